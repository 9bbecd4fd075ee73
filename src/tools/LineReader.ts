import type { FileHandle } from "node:fs/promises"

/** At most `limit` lines from line `offset` (1 is the first) and about `maxBytes`, a line at most `maxLine` bytes, within the first `maxScan` bytes. */
export interface LineBounds {
  readonly offset: number
  readonly limit: number
  readonly maxBytes: number
  readonly maxLine: number
  readonly maxScan: number
}

/** Lines as bytes, without their ends. */
export interface LineRange {
  readonly lines: ReadonlyArray<Buffer>
  /** How many bytes of a line were left out, by its index in `lines`. */
  readonly cut: ReadonlyMap<number, number>
  /** Whether the file goes on behind them. */
  readonly more: boolean
  /** Lines in the whole file, where its end was reached. */
  readonly total: number | null
}

const CHUNK = 64 * 1024
const LF = 10
const CR = 13

/** Gathers the lines within the bounds from pieces of any size; memory does not grow with what it is fed. */
class LineCollector {
  readonly lines: Array<Buffer> = []
  readonly cut = new Map<number, number>()
  readonly #bounds: LineBounds
  #number = 1
  #used = 0
  #pieces: Array<Buffer> = []
  #kept = 0
  #length = 0
  #last = 0

  constructor(bounds: LineBounds) {
    this.#bounds = bounds
  }

  get isFull() {
    return this.lines.length >= this.#bounds.limit || this.#used >= this.#bounds.maxBytes
  }

  /** False where it is full and there was more. */
  add(chunk: Buffer): boolean {
    for (let start = 0; start < chunk.length; ) {
      if (this.isFull) return false
      const found = chunk.indexOf(LF, start)
      const end = found < 0 ? chunk.length : found
      const room = this.#number < this.#bounds.offset ? 0 : this.#bounds.maxLine - this.#kept
      const kept = Math.min(end - start, room)
      if (kept > 0) this.#pieces.push(Buffer.from(chunk.subarray(start, start + kept)))
      this.#kept += kept
      this.#length += end - start
      if (end > start) this.#last = chunk[end - 1]!
      if (found >= 0) this.#finish()
      start = end + 1
    }
    return true
  }

  /** The end of the file: how many lines it has. */
  end(): number {
    if (this.#length > 0) this.#finish()
    return this.#number - 1
  }

  #finish() {
    if (this.#number >= this.#bounds.offset) {
      const whole = Buffer.concat(this.#pieces)
      const line = whole.length === this.#length && whole.at(-1) === CR ? whole.subarray(0, -1) : whole
      const left = this.#length - whole.length - (whole.length < this.#length && this.#last === CR ? 1 : 0)
      if (left > 0) this.cut.set(this.lines.length, left)
      this.lines.push(line)
      this.#used += line.length + 1
    }
    this.#number++
    this.#pieces = []
    this.#kept = 0
    this.#length = 0
  }
}

/** Reads from byte `from` on; a huge file costs no more memory than a small one. */
export const readLines = async (handle: FileHandle, bounds: LineBounds, from: number): Promise<LineRange> => {
  const collector = new LineCollector(bounds)
  const chunk = Buffer.allocUnsafe(CHUNK)
  for (let at = from; at < bounds.maxScan; ) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK, at)
    if (bytesRead === 0) return ended(collector)
    at += bytesRead
    if (!collector.add(chunk.subarray(0, bytesRead))) break
  }
  return { lines: collector.lines, cut: collector.cut, more: true, total: null }
}

export const splitLines = (text: string, bounds: LineBounds): LineRange => {
  const collector = new LineCollector(bounds)
  return collector.add(Buffer.from(text))
    ? ended(collector)
    : { lines: collector.lines, cut: collector.cut, more: true, total: null }
}

const ended = (collector: LineCollector): LineRange => {
  const total = collector.end()
  return { lines: collector.lines, cut: collector.cut, more: false, total }
}
