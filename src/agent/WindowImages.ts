import type { ImageRef } from "../domain/Image.ts"
import { imagesLeftOut } from "./Prompt.ts"
import { item, type WindowUnit } from "./WindowUnit.ts"

const MAX_COUNT = 8
const MAX_BYTES = 20 * 1024 * 1024

/**
 * Leaves out images of earlier tasks where the window would hold more than 8 or more than 20 MiB; those of the last
 * request always stay. Half of them go at once, so that what a session sends stays the same for some tasks.
 */
export const boundImages = (units: ReadonlyArray<WindowUnit>): void => {
  const last = units.findLast((unit) => unit.kind === "request")
  let kept: ReadonlyArray<WindowUnit> = []
  for (const unit of units) {
    if (imagesIn([unit]).length === 0) continue
    kept = [...kept, unit]
    if (fits(kept, 1)) continue
    while (kept.length > 1 && !fits(kept, 2)) {
      if (kept[0] !== last) dropImages(kept[0]!)
      kept = kept.slice(1)
    }
  }
}

export const imagesIn = (units: ReadonlyArray<WindowUnit>): ReadonlyArray<ImageRef> =>
  units.flatMap((unit) => unit.items.flatMap((each) => each.images))

/** What an image costs, roughly: patches of 28 by 28 pixels, as most vision models count. */
export const imageTokens = (image: ImageRef): number =>
  Math.min(4096, Math.max(256, Math.ceil((image.width * image.height) / 784)))

/** Puts the bytes into the messages that they came with. An image that is no longer stored is named as left out. */
export const attachImages = (units: ReadonlyArray<WindowUnit>, data: ReadonlyMap<string, Uint8Array>): void => {
  for (const unit of units) {
    for (const [index, each] of unit.items.entries()) {
      if (each.images.length === 0) continue
      const images = each.images.flatMap(({ hash }) => {
        const bytes = data.get(hash)
        return bytes === undefined
          ? []
          : [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")]
      })
      const missing = each.images.length - images.length
      const content = missing > 0 ? each.chat.content + imagesLeftOut(missing) : each.chat.content
      unit.items[index] = {
        ...item({ ...each.chat, content, ...(images.length > 0 ? { images } : {}) }),
        images: each.images.filter(({ hash }) => data.has(hash))
      }
    }
  }
}

const dropImages = (unit: WindowUnit): void => {
  for (const [index, each] of unit.items.entries()) {
    if (each.images.length === 0) continue
    unit.items[index] = item({ ...each.chat, content: each.chat.content + imagesLeftOut(each.images.length) })
  }
}

const fits = (units: ReadonlyArray<WindowUnit>, share: number): boolean => {
  const images = imagesIn(units)
  const bytes = images.reduce((sum, image) => sum + image.bytes, 0)
  return images.length * share <= MAX_COUNT && bytes * share <= MAX_BYTES
}
