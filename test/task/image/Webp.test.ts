import { assert, describe, it } from "@effect/vitest"
import { type Header, isDimensions } from "../../../src/task/image/Dimensions.ts"
import { isWebp, readWebp } from "../../../src/task/image/Webp.ts"
import { sample } from "./samples.ts"

const size = (header: Header): string => (isDimensions(header) ? `${header.width}x${header.height}` : header.en)

const chunk = (name: string, body: Uint8Array): Buffer => {
  const head = Buffer.from(`${name}\0\0\0\0`, "latin1")
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)])
}

const riff = (...chunks: ReadonlyArray<Uint8Array>): Buffer => {
  const file = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBP", "latin1"), ...chunks])
  file.writeUInt32LE(file.length - 8, 4)
  return file
}

const lossless = (width: number, height: number, version = 0): Buffer => {
  const body = Buffer.alloc(17, 0x2f)
  body.writeUInt32LE(((width - 1) | ((height - 1) << 14) | (version << 29)) >>> 0, 1)
  return chunk("VP8L", body)
}

const extended = (flags: number, width: number, height: number): Buffer => {
  const body = Buffer.alloc(10)
  body[0] = flags
  body.writeUIntLE(width - 1, 4, 3)
  body.writeUIntLE(height - 1, 7, 3)
  return chunk("VP8X", body)
}

describe("readWebp", () => {
  it("reads the size of lossy, lossless and extended stills", () => {
    assert.strictEqual(size(readWebp(sample("lossyWebp"))), "7x5")
    assert.strictEqual(size(readWebp(sample("losslessWebp"))), "7x5")
    assert.strictEqual(size(readWebp(sample("extendedWebp"))), "7x5")
    assert.strictEqual(size(readWebp(riff(lossless(16384, 4096)))), "16384x4096")
  })

  it("refuses animations by name", () => {
    // C17
    assert.include(size(readWebp(sample("animatedWebp"))), "animated WebP")
    assert.include(size(readWebp(riff(extended(0, 1, 1), chunk("ANMF", Buffer.alloc(20))))), "animated WebP")
  })

  it("refuses a RIFF size that is not the file's", () => {
    // C17
    for (const by of [-2, -1, 1, 2, 1000]) {
      const webp = sample("lossyWebp")
      webp.writeUInt32LE(webp.readUInt32LE(4) + by, 4)
      assert.include(size(readWebp(webp)), "RIFF size", `by ${by}`)
    }
    assert.include(size(readWebp(Buffer.concat([sample("lossyWebp"), Buffer.alloc(2)]))), "RIFF size")
  })

  it("refuses a file that is cut off anywhere, also where its RIFF size was mended", () => {
    for (const name of ["lossyWebp", "losslessWebp", "extendedWebp"] as const) {
      const webp = sample(name)
      for (let length = 0; length < webp.length; length++) {
        const cut = Buffer.from(webp.subarray(0, length))
        assert.isFalse(isWebp(cut) && isDimensions(readWebp(cut)), `${name} cut at ${length}`)
        if (length < 12) continue
        cut.writeUInt32LE(length - 8, 4)
        // The last byte of an odd chunk only fills it up.
        if (length < webp.length - 1) assert.isFalse(isDimensions(readWebp(cut)), `${name} cut and mended at ${length}`)
      }
    }
  })

  it("refuses pictures that are missing, doubled, contradictory or of an unknown kind", () => {
    assert.include(size(readWebp(riff())), "no pixel data")
    assert.include(size(readWebp(riff(extended(0, 7, 5)))), "no pixel data")
    assert.include(size(readWebp(riff(lossless(7, 5), lossless(7, 5)))), "two pictures")
    assert.include(size(readWebp(riff(extended(0, 8, 5), lossless(7, 5)))), "contradict")
    assert.include(size(readWebp(riff(lossless(7, 5), extended(0, 7, 5)))), "VP8X")
    assert.include(size(readWebp(riff(lossless(7, 5, 1)))), "VP8L")
    assert.include(size(readWebp(riff(chunk("VP8L", Buffer.alloc(20))))), "VP8L")
    assert.include(size(readWebp(riff(chunk("VP8 ", Buffer.alloc(20))))), "VP8 ")
    assert.include(size(readWebp(riff(chunk("VP8 ", Buffer.alloc(3))))), "VP8 ")
  })

  it("takes chunks that it does not know", () => {
    assert.strictEqual(size(readWebp(riff(extended(0, 7, 5), lossless(7, 5), chunk("XYZW", Buffer.alloc(3))))), "7x5")
  })

  it("refuses sizes out of bounds", () => {
    assert.include(size(readWebp(riff(extended(0, 0x1000000, 0x1000000)))), "16777216x16777216 pixels")
    assert.include(size(readWebp(riff(lossless(16384, 16384)))), "16384x16384 pixels")
    const empty = sample("lossyWebp")
    empty.writeUInt16LE(0, 26)
    assert.include(size(readWebp(empty)), "0x5 pixels")
  })
})
