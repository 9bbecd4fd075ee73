import { crc32 } from "node:zlib"
import { bounded, broken, type Header, isDimensions } from "./Dimensions.ts"

export const isPng = (data: Uint8Array): boolean => SIGNATURE.every((byte, at) => data[at] === byte)

/**
 * Walks the chunks of a PNG with their checksums (PNG third edition, §5). An animated PNG is taken,
 * its still picture is what a model sees; so is what follows IEND, which decoders do not read.
 */
export const readPng = (data: Uint8Array): Header => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let header: Header | null = null
  let hasPalette = false
  // The data chunks lie side by side: 0 none yet, 1 among them, 2 past them.
  let pixels: 0 | 1 | 2 = 0
  for (let at = SIGNATURE.length; at + 12 <= data.length; ) {
    const length = view.getUint32(at)
    const body = at + 8
    if (length > data.length - body - 4) return damaged("チャンクが途切れている", "a chunk runs past its end")
    const type = view.getUint32(at + 4)
    if (crc32(data.subarray(at + 4, body + length)) !== view.getUint32(body + length)) {
      return damaged("チェックサムが合わない", "a checksum does not match")
    }
    if (header === null) {
      if (type !== IHDR || length !== 13) return damaged("IHDR で始まらない", "it does not begin with IHDR")
      header = readHeader(view, body)
      if (!isDimensions(header)) return header
    } else if (type === IHDR) {
      return damaged("IHDR が二つある", "it has two IHDR chunks")
    } else if (type === PLTE) {
      if (pixels > 0 || length === 0 || length > 768 || length % 3 !== 0) {
        return damaged("パレットが正しくない", "its palette is wrong")
      }
      hasPalette = true
    } else if (type === IDAT) {
      if (pixels === 2) return damaged("IDAT が離れている", "its IDAT chunks are apart")
      pixels = 1
    } else if (type === IEND) {
      if (length !== 0 || pixels === 0) return damaged("画素のデータがない", "it has no pixel data")
      if (data[COLOUR_TYPE] === 3 && !hasPalette) return damaged("パレットがない", "it has no palette")
      return header
    } else if ((type & ANCILLARY_BIT) === 0) {
      return damaged("未知の必須チャンクがある", "it has an unknown critical chunk")
    }
    if (pixels === 1 && type !== IDAT) pixels = 2
    at = body + length + 4
  }
  return damaged("途中で切れている", "it is cut off before IEND")
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const IHDR = 0x49484452
const PLTE = 0x504c5445
const IDAT = 0x49444154
const IEND = 0x49454e44
/** Set in the types of chunks that a decoder may leave out (§5.4). */
const ANCILLARY_BIT = 0x20000000
const COLOUR_TYPE = 25
/** The bit depths of each colour type. */
const DEPTHS: ReadonlyMap<number, ReadonlyArray<number>> = new Map([
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]]
])

const damaged = (ja: string, en: string): Header => broken("PNG", ja, en)

const readHeader = (view: DataView, at: number): Header => {
  const depths = DEPTHS.get(view.getUint8(at + 9))
  const methods = view.getUint8(at + 10) === 0 && view.getUint8(at + 11) === 0 && view.getUint8(at + 12) <= 1
  if (!methods || depths === undefined || !depths.includes(view.getUint8(at + 8))) {
    return damaged("IHDR の値が正しくない", "IHDR holds values that do not exist")
  }
  return bounded(view.getUint32(at), view.getUint32(at + 4))
}
