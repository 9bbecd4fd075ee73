import type { Bilingual } from "../../domain/Settings.ts"

/** In pixels. */
export interface Dimensions {
  readonly width: number
  readonly height: number
}

/** What a header parser finds: the size of a sound image, or what is wrong with it. */
export type Header = Dimensions | Bilingual

export const isDimensions = (header: Header): header is Dimensions => "width" in header

const MAX_SIDE = 16_384
/** A model's server unpacks an image to four bytes a pixel or more: 256 MiB at this bound. */
const MAX_PIXELS = 64 * 1024 * 1024

/** The size where it lies in the bounds that keep a small file from unpacking into an endless picture. */
export const bounded = (width: number, height: number): Header =>
  width >= 1 && height >= 1 && width <= MAX_SIDE && height <= MAX_SIDE && width * height <= MAX_PIXELS
    ? { width, height }
    : {
        ja: `${width}×${height} 画素です。1×1 から、一辺 ${MAX_SIDE} 画素以下、全体で ${MAX_PIXELS} 画素以下の画像を受け付けます。`,
        en: `It is ${width}x${height} pixels; accepted are 1x1 up to ${MAX_SIDE} pixels a side and ${MAX_PIXELS} pixels in all.`
      }

/** The words for a file that is not whole; `what` names the place. */
export const broken = (format: string, ja: string, en: string): Bilingual => ({
  ja: `${format} として壊れています（${ja}）。壊れていない ${format} ファイルを渡してください。`,
  en: `It is a damaged ${format} file (${en}); give a whole ${format} file.`
})
