import type { Bilingual } from "../../domain/Settings.ts"
import { bounded, broken, type Dimensions, type Header, isDimensions } from "./Dimensions.ts"

export const isWebp = (data: Uint8Array): boolean =>
  data.length >= 12 && tag(data, 0) === "RIFF" && tag(data, 8) === "WEBP"

/** Walks the chunks of a WebP (RFC 9649). Animations are refused: model servers read stills only. */
export const readWebp = (data: Uint8Array): Header => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (view.getUint32(4, true) !== data.length - 8) {
    return damaged("RIFF の長さがファイルと合わない", "its RIFF size does not match the file")
  }
  let canvas: Dimensions | null = null
  let picture: Dimensions | null = null
  let at = 12
  while (at < data.length) {
    if (at + 8 > data.length) return damaged("途中で切れている", "it is cut off")
    const name = tag(data, at)
    const body = at + 8
    const length = view.getUint32(at + 4, true)
    if (length > data.length - body) return damaged("チャンクが途切れている", "a chunk runs past its end")
    if (name === "ANIM" || name === "ANMF") return ANIMATED
    if (name === "VP8X") {
      if (at !== 12 || length < 10) return damaged("VP8X が正しくない", "its VP8X chunk is wrong")
      if ((view.getUint8(body) & ANIMATION_BIT) !== 0) return ANIMATED
      const header = bounded(1 + uint24(view, body + 4), 1 + uint24(view, body + 7))
      if (!isDimensions(header)) return header
      canvas = header
    } else if (name === "VP8 " || name === "VP8L") {
      if (picture !== null) return damaged("画像が二つある", "it has two pictures")
      const header = name === "VP8 " ? readLossy(view, body, length) : readLossless(view, body, length)
      if (!isDimensions(header)) return header
      picture = header
    }
    // Chunks begin at even places.
    at = body + length + (length % 2)
  }
  if (picture === null) return damaged("画素のデータがない", "it has no pixel data")
  if (canvas !== null && (canvas.width !== picture.width || canvas.height !== picture.height)) {
    return damaged("大きさが食い違っている", "its sizes contradict each other")
  }
  return picture
}

const ANIMATION_BIT = 0x02

const ANIMATED: Bilingual = {
  ja: "アニメーション WebP です。静止画の WebP を受け付けます。",
  en: "It is an animated WebP, which is not supported; a still WebP is accepted."
}

const damaged = (ja: string, en: string): Header => broken("WebP", ja, en)

const tag = (data: Uint8Array, at: number): string =>
  String.fromCharCode(data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!)

const uint24 = (view: DataView, at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)

/** The key frame's header of RFC 6386 §9.1. */
const readLossy = (view: DataView, at: number, length: number): Header =>
  length >= 10 && (view.getUint8(at) & 1) === 0 && view.getUint16(at + 3) === 0x9d01 && view.getUint8(at + 5) === 0x2a
    ? bounded(view.getUint16(at + 6, true) & 0x3fff, view.getUint16(at + 8, true) & 0x3fff)
    : damaged("VP8 が正しくない", "its VP8 chunk is wrong")

/** The header of RFC 9649 §3.4: a signature byte, two sizes of 14 bits less one, an alpha bit, version 0. */
const readLossless = (view: DataView, at: number, length: number): Header => {
  if (length < 5 || view.getUint8(at) !== 0x2f) return damaged("VP8L が正しくない", "its VP8L chunk is wrong")
  const bits = view.getUint32(at + 1, true)
  if (bits >>> 29 !== 0) return damaged("VP8L が正しくない", "its VP8L chunk is wrong")
  return bounded(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff))
}
