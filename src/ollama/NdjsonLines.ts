const NEWLINE = 0x0a

/**
 * Cuts bytes into lines. Lines are cut before they are decoded, so that no character is ever split, and a
 * line that comes in many chunks is joined once, so that the time is linear.
 */
export class NdjsonLines {
  readonly #limit: number
  #parts: Array<Uint8Array> = []
  #size = 0

  /** `limit` bounds one line, in bytes. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** The lines that this chunk completes, without their ends; null where one is longer than the limit. */
  push(chunk: Uint8Array): ReadonlyArray<string> | null {
    const lines: Array<string> = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end))
      if (this.#size > this.#limit) return null
      lines.push(this.rest())
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
    return this.#size > this.#limit ? null : lines
  }

  /** What came after the last line's end; it is forgotten here. */
  rest(): string {
    const line = Buffer.concat(this.#parts, this.#size).toString("utf8")
    this.#parts = []
    this.#size = 0
    return line
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return
    this.#parts.push(part)
    this.#size += part.length
  }
}
