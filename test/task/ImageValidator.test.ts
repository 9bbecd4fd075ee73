import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Layer } from "effect"
import { AppConfig, type ImageLimits, type Settings } from "../../src/config/AppConfig.ts"
import { ImageValidator } from "../../src/task/ImageValidator.ts"
import type { ImageInput } from "../../src/task/Tasks.ts"
import { makePng } from "../support/Png.ts"
import { SAMPLES, sample } from "./image/samples.ts"

const MIB = 1024 * 1024
const CONTRACT_LIMITS: ImageLimits = { maxCount: 4, maxBytes: 10 * MIB, maxTotalBytes: 20 * MIB }

// Nothing else of the settings is read.
const withLimits = (limits: ImageLimits) =>
  Layer.fresh(Layer.provide(ImageValidator.layer, Layer.succeed(AppConfig, { mcp: { images: limits } } as Settings)))

const validate = (images: ReadonlyArray<ImageInput>) =>
  Effect.flatMap(ImageValidator, (validator) => validator.validate(images))

/** The refusal in English, one line for each problem; "" where the images were taken. */
const refusal = (images: ReadonlyArray<ImageInput>) =>
  validate(images).pipe(
    Effect.as(""),
    Effect.catchTag("RequestRefused", (refused) => {
      assert.strictEqual(refused.sentences("ja").split("\n").length, refused.problems.length)
      return Effect.succeed(refused.sentences("en"))
    })
  )

const image = (data: string | Uint8Array, mimeType = "image/png"): ImageInput => ({
  mimeType,
  dataBase64: typeof data === "string" ? data : Buffer.from(data).toString("base64")
})

describe("ImageValidator", () => {
  const tenMiB = image(makePng(64, 64, { bytes: 10 * MIB }))
  const small = image(SAMPLES.png64x64)

  it.layer(withLimits(CONTRACT_LIMITS))((it) => {
    it.effect("gives each image's type, size in bytes and pixels, hash and unchanged bytes", () =>
      Effect.gen(function* () {
        const found = yield* validate([
          small,
          image(SAMPLES.greyJpeg, "image/jpeg"),
          image(SAMPLES.lossyWebp, "image/webp")
        ])
        const data = sample("png64x64")
        assert.deepStrictEqual(
          { ...found[0]?.ref },
          {
            hash: createHash("sha256").update(data).digest("hex"),
            mimeType: "image/png",
            bytes: data.length,
            width: 64,
            height: 64
          }
        )
        assert.isTrue(data.equals(found[0]!.data))
        assert.deepStrictEqual(
          found.map(({ ref }) => `${ref.mimeType} ${ref.width}x${ref.height}`),
          ["image/png 64x64", "image/jpeg 7x5", "image/webp 7x5"]
        )
      })
    )

    it.effect("takes no images at all", () => Effect.map(validate([]), (found) => assert.deepStrictEqual(found, [])))

    it.effect("takes small sides and leaves them to the model's server", () =>
      Effect.gen(function* () {
        // C12
        assert.strictEqual(yield* refusal([image(SAMPLES.png1x1), image(SAMPLES.png30x305)]), "")
      })
    )

    it.effect("takes only the three MIME types as they are spelt, and lists them", () =>
      Effect.gen(function* () {
        // C09
        const near = [
          "image/jpg",
          "IMAGE/PNG",
          "image/png; charset=binary",
          " image/png",
          "image/gif",
          "png",
          "",
          "x\ny"
        ]
        for (const mimeType of near) {
          const text = yield* refusal([image(SAMPLES.png64x64, mimeType)])
          assert.match(text, /^images\[0\]\.mime_type: .*image\/png, image\/jpeg, image\/webp\.$/)
        }
      })
    )

    it.effect("refuses text that is not strict Base64, naming the property", () =>
      Effect.gen(function* () {
        // C01 C02 C03 C04 C05 C07
        for (const text of [
          `data:image/png;base64,${SAMPLES.png64x64}`,
          "https://example.invalid/cat.png",
          SAMPLES.png64x64.replaceAll("/", "_").replaceAll("+", "-"),
          SAMPLES.png64x64.replace(/.{76}/g, "$&\r\n"),
          SAMPLES.png64x64.slice(0, -1),
          "A",
          "A===",
          "",
          "   ",
          "x"
        ]) {
          assert.match(yield* refusal([image(text)]), /^images\[0\]\.data_base64: .*standard Base64/)
        }
      })
    )

    it.effect("takes Base64 that needs no padding", () =>
      Effect.gen(function* () {
        // C05
        const unpadded = image(makePng(8, 8, { bytes: 300 }))
        assert.notInclude(unpadded.dataBase64, "=")
        assert.strictEqual(yield* refusal([unpadded]), "")
      })
    )

    it.effect("refuses bytes that are no image", () =>
      Effect.gen(function* () {
        // C10
        const page = image(Buffer.from('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'))
        assert.match(yield* refusal([page]), /^images\[0\]\.data_base64: .*no image/)
        assert.match(yield* refusal([image(SAMPLES.gif)]), /no image/)
      })
    )

    it.effect("refuses bytes of another type than named, and says which they are", () =>
      Effect.gen(function* () {
        assert.match(yield* refusal([image(SAMPLES.greyJpeg)]), /says image\/png but the bytes are image\/jpeg/)
        assert.match(yield* refusal([image(SAMPLES.lossyWebp, "image/jpeg")]), /the bytes are image\/webp/)
        assert.match(yield* refusal([image(SAMPLES.png64x64, "image/webp")]), /the bytes are image\/png/)
      })
    )

    it.effect("refuses a truncated file and an animated WebP", () =>
      Effect.gen(function* () {
        // C11 C17
        assert.match(
          yield* refusal([image(sample("png64x64").subarray(0, 60))]),
          /^images\[0\]\.data_base64: .*damaged/
        )
        assert.match(yield* refusal([image(SAMPLES.animatedWebp, "image/webp")]), /animated WebP/)
      })
    )

    it.effect("counts decoded bytes, to the byte", () =>
      Effect.gen(function* () {
        // C15
        assert.strictEqual(yield* refusal([tenMiB]), "")
        const over = image(makePng(64, 64, { bytes: 10 * MIB + 1 }))
        assert.match(yield* refusal([over]), /^images\[0\]\.data_base64: .*10485761 bytes.*10485760 bytes/)
        assert.strictEqual(yield* refusal([tenMiB, tenMiB]), "")
        const text = yield* refusal([tenMiB, tenMiB, small])
        assert.match(text, /^images: .*20971604 bytes.*20971520 bytes/)
      })
    )

    it.effect("counts images", () =>
      Effect.gen(function* () {
        // C07 C15
        assert.strictEqual(yield* refusal([small, small, small, small]), "")
        assert.match(yield* refusal([small, small, small, small, small]), /^images: There are 5 images; at most 4/)
      })
    )

    it.effect("names all problems of all images at once, with no image data in them", () =>
      Effect.gen(function* () {
        const text = yield* refusal([
          image("!", "image/jpg"),
          small,
          image(sample("png64x64").subarray(0, 60)),
          image(`data:image/png;base64,${SAMPLES.png64x64}`, "image/gif"),
          small
        ])
        assert.deepStrictEqual(
          text.split("\n").map((line) => line.split(":")[0]),
          [
            "images",
            "images[0].mime_type",
            "images[0].data_base64",
            "images[2].data_base64",
            "images[3].mime_type",
            "images[3].data_base64"
          ]
        )
        assert.notInclude(text, SAMPLES.png64x64.slice(0, 12))
      })
    )

    it.effect("says one problem of the list where far too many come", () =>
      Effect.gen(function* () {
        const text = yield* refusal(Array.from({ length: 10_000 }, () => image("!")))
        assert.strictEqual(text.split("\n").length, 5)
      })
    )
  })

  it.layer(withLimits({ maxCount: 0, maxBytes: 100, maxTotalBytes: 50 }))((it) => {
    it.effect("goes by the limits of the settings", () =>
      Effect.gen(function* () {
        const text = yield* refusal([small])
        assert.match(text, /at most 0 are accepted/)
        assert.match(text, /84 bytes together.*at most 50 bytes/)
        assert.match(yield* refusal([tenMiB]), /at most 100 bytes an image/)
      })
    )
  })

  it.layer(withLimits(CONTRACT_LIMITS))((it) => {
    const names = ["png64x64", "greyJpeg", "progressiveJpeg", "lossyWebp", "losslessWebp", "extendedWebp"] as const
    const mimeTypes = ["image/png", "image/jpeg", "image/webp"] as const

    it.effect.prop(
      "ends with an answer for any change to a sound file",
      [
        fc.constantFrom(...names),
        fc.array(fc.tuple(fc.nat(700), fc.nat(255)), { maxLength: 6 }),
        fc.nat(700),
        fc.uint8Array({ maxLength: 20 })
      ],
      ([name, changes, length, tail]) =>
        Effect.gen(function* () {
          const data = Buffer.concat([sample(name).subarray(0, length), tail])
          for (const [at, value] of changes) data[at % data.length] = value
          for (const mimeType of mimeTypes) assert.isString(yield* refusal([image(data, mimeType)]))
        }),
      { fastCheck: { numRuns: 500 } }
    )

    it.effect.prop(
      "ends with an answer for any bytes behind a good beginning",
      [fc.constantFrom(...names), fc.nat(40), fc.uint8Array({ maxLength: 300 })],
      ([name, kept, rest]) =>
        Effect.gen(function* () {
          const data = Buffer.concat([sample(name).subarray(0, kept), rest])
          for (const mimeType of mimeTypes) assert.isString(yield* refusal([image(data, mimeType)]))
        }),
      { fastCheck: { numRuns: 500 } }
    )
  })
})
