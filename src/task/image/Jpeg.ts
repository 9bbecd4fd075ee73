import { bounded, broken, type Header, isDimensions } from "./Dimensions.ts"

export const isJpeg = (data: Uint8Array): boolean => data[0] === 0xff && data[1] === SOI && data[2] === 0xff

/**
 * Walks the segments of a JPEG from SOI to EOI (ITU-T T.81, annex B), Exif and all, and changes
 * nothing. What follows EOI, as many cameras write, is not read.
 */
export const readJpeg = (data: Uint8Array): Header => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let header: Header | null = null
  let hasScan = false
  let at = 2
  while (at + 1 < data.length) {
    if (data[at] !== 0xff) return damaged("セグメントの長さが正しくない", "the length of a segment is wrong")
    const marker = data[at + 1]!
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (marker === EOI) {
      if (header === null || !hasScan) return damaged("画素のデータがない", "it has no pixel data")
      return header
    }
    if (marker < FIRST_MARKER || marker === SOI || isRestart(marker)) {
      return damaged("場違いなマーカーがある", "it has a marker out of place")
    }
    const body = at + 4
    if (body > data.length) break
    const length = view.getUint16(at + 2)
    if (length < 2 || at + 2 + length > data.length) {
      return damaged("セグメントの長さが正しくない", "the length of a segment is wrong")
    }
    at += 2 + length
    if (isFrame(marker)) {
      if (header !== null) return damaged("フレームが二つある", "it has two frames")
      header = readFrame(view, marker, body, length - 2)
      if (!isDimensions(header)) return header
    } else if (marker === SOS) {
      if (header === null) return damaged("フレームがない", "it has no frame header")
      hasScan = true
      at = endOfScan(data, at)
    }
  }
  return damaged("途中で切れている", "it is cut off before its end marker")
}

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const FIRST_MARKER = 0xc0

const damaged = (ja: string, en: string): Header => broken("JPEG", ja, en)

const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7

/** SOF0 to SOF15, without DHT, JPG and DAC, which lie between them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

const readFrame = (view: DataView, marker: number, at: number, length: number): Header => {
  if (length < 6) return damaged("フレームが短すぎる", "its frame header is too short")
  const components = view.getUint8(at + 5)
  if (length !== 6 + 3 * components) return damaged("フレームの長さが正しくない", "its frame header has a wrong length")
  if (marker > 0xc2 || view.getUint8(at) !== 8 || ![1, 3, 4].includes(components)) {
    return {
      ja: "この方式の JPEG はモデルのサーバーで読めません。8 ビットのベースラインまたはプログレッシブ JPEG を受け付けます。",
      en: "It is a kind of JPEG that model servers cannot read; accepted are baseline and progressive JPEG with 8 bits."
    }
  }
  return bounded(view.getUint16(at + 3), view.getUint16(at + 1))
}

/** The place of the first marker after entropy-coded data, where stuffed zeros and restarts are none. */
const endOfScan = (data: Uint8Array, from: number): number => {
  const last = data.length - 1
  for (let at = from; at < last; at++) {
    if (data[at] !== 0xff) continue
    const next = data[at + 1]!
    if (next !== 0 && next !== 0xff && !isRestart(next)) return at
  }
  return data.length
}
