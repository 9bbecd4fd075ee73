import { plainText } from "./PlainText.ts"

const KEPT = 64 * 1024

/** Keeps the first and the last 64 KiB of whatever is written to it: memory does not grow with the output. */
export class OutputCapture {
  readonly #head: Array<Buffer> = []
  #headLength = 0
  readonly #ring = Buffer.alloc(KEPT)
  #tailTotal = 0

  push(chunk: Buffer): void {
    const toHead = Math.min(chunk.length, KEPT - this.#headLength)
    if (toHead > 0) {
      this.#head.push(Buffer.from(chunk.subarray(0, toHead)))
      this.#headLength += toHead
    }
    const rest = chunk.subarray(toHead).subarray(-KEPT)
    this.#tailTotal += chunk.length - toHead - rest.length
    const at = this.#tailTotal % KEPT
    const first = rest.copy(this.#ring, at, 0)
    rest.copy(this.#ring, 0, first)
    this.#tailTotal += rest.length
  }

  get totalBytes(): number {
    return this.#headLength + this.#tailTotal
  }

  /** As plain text of about `budget` bytes: a third from the start, the rest from the end, with what is missing said in between. */
  text(budget: number): string {
    const tail = this.#tail()
    const head = Buffer.concat(this.#head)
    if (this.#tailTotal <= KEPT) return shorten(plain(Buffer.concat([head, tail])), budget)
    const start = firstPart(plain(head), budget / 3)
    const end = lastPart(plain(tail), (budget * 2) / 3)
    return `${start}\n${leftOut(this.totalBytes - Buffer.byteLength(start) - Buffer.byteLength(end))}\n${end}`
  }

  #tail(): Buffer {
    if (this.#tailTotal <= KEPT) return this.#ring.subarray(0, this.#tailTotal)
    const at = this.#tailTotal % KEPT
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)])
  }
}

const plain = (bytes: Buffer) => plainText(bytes.toString("utf8")).replace(/^\n+|\s+$/g, "")

const leftOut = (bytes: number) => `… [about ${bytes} bytes left out] …`

const shorten = (text: string, budget: number): string => {
  if (Buffer.byteLength(text) <= budget) return text
  const start = firstPart(text, budget / 3)
  const end = lastPart(text, (budget * 2) / 3)
  return `${start}\n${leftOut(Buffer.byteLength(text) - Buffer.byteLength(start) - Buffer.byteLength(end))}\n${end}`
}

/** Cut at a line end, where there is one in the second half. */
const firstPart = (text: string, bytes: number): string => {
  const part = Buffer.from(text)
    .subarray(0, bytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "")
  const end = part.lastIndexOf("\n")
  return end > part.length / 2 ? part.slice(0, end) : part
}

const lastPart = (text: string, bytes: number): string => {
  const part = Buffer.from(text)
    .subarray(-Math.floor(bytes))
    .toString("utf8")
    .replace(/^\ufffd+/, "")
  const start = part.indexOf("\n")
  return start >= 0 && start < part.length / 2 ? part.slice(start + 1) : part
}
