import { Context, Effect, Layer } from "effect"
import { AppConfig, type ImageLimits } from "../config/AppConfig.ts"
import { ImageMimeType, ImageRef, type ValidImage } from "../domain/Image.ts"
import { type Problem, RequestRefused } from "../domain/Problem.ts"
import type { Bilingual } from "../domain/Settings.ts"
import { type Header, isDimensions } from "./image/Dimensions.ts"
import { isJpeg, readJpeg } from "./image/Jpeg.ts"
import { isPng, readPng } from "./image/Png.ts"
import { decodeBase64, decodedSize } from "./image/StrictBase64.ts"
import { isWebp, readWebp } from "./image/Webp.ts"
import type { ImageInput } from "./Tasks.ts"

export class ImageValidator extends Context.Tag("sagyo/task/ImageValidator")<
  ImageValidator,
  {
    /** All problems of all images in one refusal, each naming `images[i]` and the property. */
    readonly validate: (images: ReadonlyArray<ImageInput>) => Effect.Effect<ReadonlyArray<ValidImage>, RequestRefused>
  }
>() {
  static readonly layer = Layer.effect(
    ImageValidator,
    Effect.map(AppConfig, ({ mcp: { images: limits } }) => ({
      validate: Effect.fn("ImageValidator.validate")(function* (images: ReadonlyArray<ImageInput>) {
        const problems = countAndTotal(images, limits)
        const valid: Array<ValidImage> = []
        // Of too many images only as many are looked at as may come.
        for (const [index, image] of images.slice(0, Math.max(1, limits.maxCount)).entries()) {
          const judged = judge(image, limits)
          if ("data" in judged) valid.push(yield* withHash(judged))
          else problems.push(...judged.map(({ field, text }) => ({ field: `images[${index}].${field}`, text })))
        }
        const [first, ...rest] = problems
        if (first !== undefined) return yield* new RequestRefused({ problems: [first, ...rest] })
        return valid
      })
    }))
  )
}

interface Sound {
  readonly mimeType: ImageMimeType
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
}

const MIME_TYPES = ImageMimeType.literals

/** Told from the lengths of the texts, before anything is decoded. */
const countAndTotal = (images: ReadonlyArray<ImageInput>, limits: ImageLimits): Array<Problem> => {
  const problems: Array<Problem> = []
  if (images.length > limits.maxCount) {
    problems.push({
      field: "images",
      text: {
        ja: `画像が ${images.length} 枚あります。${limits.maxCount} 枚まで受け付けます。`,
        en: `There are ${images.length} images; at most ${limits.maxCount} are accepted.`
      }
    })
  }
  const total = images.reduce((sum, image) => sum + decodedSize(image.dataBase64), 0)
  if (total > limits.maxTotalBytes) {
    problems.push({
      field: "images",
      text: {
        ja: `画像の合計が ${total} バイトです（デコード後）。合計 ${limits.maxTotalBytes} バイトまで受け付けます。`,
        en: `The images have ${total} bytes together (decoded); at most ${limits.maxTotalBytes} bytes are accepted.`
      }
    })
  }
  return problems
}

const judge = (image: ImageInput, limits: ImageLimits): Sound | ReadonlyArray<Problem> => {
  const mimeType = MIME_TYPES.find((known) => known === image.mimeType)
  const problems: Array<Problem> = mimeType === undefined ? [{ field: "mime_type", text: unknownType(image) }] : []
  const wrong = (text: Bilingual) => [...problems, { field: "data_base64", text }]

  const size = decodedSize(image.dataBase64)
  if (size > limits.maxBytes) return wrong(tooLarge(size, limits.maxBytes))
  const data = decodeBase64(image.dataBase64)
  if (!(data instanceof Uint8Array)) return wrong(data)
  const actual = FORMATS.find((format) => format.is(data))
  if (actual === undefined) return wrong(NOT_AN_IMAGE)
  if (mimeType === undefined) return problems
  if (actual.mimeType !== mimeType) return wrong(otherType(actual.mimeType, mimeType))
  const header = actual.read(data)
  return isDimensions(header) ? { mimeType, data, ...header } : wrong(header)
}

const FORMATS: ReadonlyArray<{
  readonly mimeType: ImageMimeType
  readonly is: (data: Uint8Array) => boolean
  readonly read: (data: Uint8Array) => Header
}> = [
  { mimeType: "image/png", is: isPng, read: readPng },
  { mimeType: "image/jpeg", is: isJpeg, read: readJpeg },
  { mimeType: "image/webp", is: isWebp, read: readWebp }
]

/** The hash is taken off the main thread, so that between two large images others get their turn. */
const withHash = ({ data, ...rest }: Sound): Effect.Effect<ValidImage> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", data)),
    (digest) => ({
      ref: new ImageRef({ ...rest, hash: Buffer.from(digest).toString("hex"), bytes: data.length }),
      data
    })
  )

const unknownType = ({ mimeType }: ImageInput): Bilingual => {
  const shown = JSON.stringify(mimeType.slice(0, 40)).replace(/[^\x20-\x7e]/g, "?")
  return {
    ja: `${shown} は受け付けない MIME タイプです。${MIME_TYPES.join("、")} のどれかを、この綴りのまま指定してください。`,
    en: `${shown} is not an accepted MIME type; accepted are exactly ${MIME_TYPES.join(", ")}.`
  }
}

const tooLarge = (size: number, limit: number): Bilingual => ({
  ja: `${size} バイトあります（デコード後）。一枚 ${limit} バイトまで受け付けます。`,
  en: `It has ${size} bytes (decoded); at most ${limit} bytes an image are accepted.`
})

const NOT_AN_IMAGE: Bilingual = {
  ja: "PNG、JPEG、WebP のどれでもありません。これらの画像ファイルの中身を渡してください。",
  en: "Its bytes are no image; accepted are the bytes of a PNG, JPEG or WebP file."
}

const otherType = (actual: ImageMimeType, named: ImageMimeType): Bilingual => ({
  ja: `mime_type は ${named} ですが、中身は ${actual} です。mime_type に ${actual} を指定してください。`,
  en: `mime_type says ${named} but the bytes are ${actual}; ${actual} as the mime_type is accepted.`
})
