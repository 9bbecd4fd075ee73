/**
 * Cuts a byte stream into lines in linear time, however long they are. A line beyond `limit` bytes is
 * dropped as it comes, and told of once.
 */
export class StdioLines {
  readonly #limit: number
  readonly #onLine: (line: Buffer) => void
  readonly #onOverlong: () => void
  #parts: Array<Buffer> = []
  #size = 0
  #overlong = false

  constructor(limit: number, onLine: (line: Buffer) => void, onOverlong: () => void) {
    this.#limit = limit
    this.#onLine = onLine
    this.#onOverlong = onOverlong
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#collect(chunk.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#collect(chunk.subarray(start))
  }

  /** What stands after the last line break counts as a line, too. */
  end(): void {
    this.#endLine()
  }

  #collect(part: Buffer): void {
    if (this.#overlong || part.length === 0) return
    this.#size += part.length
    if (this.#size > this.#limit) {
      this.#overlong = true
      this.#parts = []
      this.#onOverlong()
    } else {
      this.#parts.push(part)
    }
  }

  #endLine(): void {
    const [first, ...others] = this.#parts
    const overlong = this.#overlong
    this.#parts = []
    this.#size = 0
    this.#overlong = false
    if (overlong || first === undefined) return
    const line = others.length === 0 ? first : Buffer.concat([first, ...others])
    if (!line.every(isBlank)) this.#onLine(line)
  }
}

const newline = 0x0a

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d
