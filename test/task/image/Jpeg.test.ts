import { assert, describe, it } from "@effect/vitest"
import { type Header, isDimensions } from "../../../src/task/image/Dimensions.ts"
import { isJpeg, readJpeg } from "../../../src/task/image/Jpeg.ts"
import { sample } from "./samples.ts"

const size = (header: Header): string => (isDimensions(header) ? `${header.width}x${header.height}` : header.en)

const segment = (marker: number, body: Uint8Array, length = body.length + 2): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), body])

/** `extra` comes right after SOI. */
const withSegment = (extra: Buffer): Buffer => {
  const jpeg = sample("greyJpeg")
  return Buffer.concat([jpeg.subarray(0, 2), extra, jpeg.subarray(2)])
}

/** Exif with an orientation of 6 (a quarter turn). */
const EXIF = Buffer.from("Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", "latin1")

/** The grey sample with the frame's bytes replaced: marker, precision, height, width, components. */
const withFrame = (change: (frame: Buffer) => void): Buffer => {
  const jpeg = sample("greyJpeg")
  change(jpeg.subarray(jpeg.indexOf(Buffer.from([0xff, 0xc0]))))
  return jpeg
}

describe("readJpeg", () => {
  it("reads the size of baseline and progressive files", () => {
    assert.strictEqual(size(readJpeg(sample("greyJpeg"))), "7x5")
    assert.strictEqual(size(readJpeg(sample("progressiveJpeg"))), "7x5")
  })

  it("takes Exif as it is and does not turn the picture", () => {
    // C18
    assert.strictEqual(size(readJpeg(withSegment(segment(0xe1, EXIF)))), "7x5")
  })

  it("refuses a segment whose length is wrong, and does not loop", () => {
    // C18
    for (const length of [0, 1, 5, 20, 0x7fff, 0xffff]) {
      assert.include(size(readJpeg(withSegment(segment(0xe1, EXIF, length)))), "damaged JPEG", `length ${length}`)
    }
  })

  it("refuses a file that is cut off anywhere", () => {
    for (const name of ["greyJpeg", "progressiveJpeg"] as const) {
      const jpeg = sample(name)
      for (let length = 0; length < jpeg.length; length++) {
        const cut = jpeg.subarray(0, length)
        assert.isFalse(isJpeg(cut) && isDimensions(readJpeg(cut)), `cut at ${length}`)
      }
    }
  })

  it("takes bytes after the end, fill bytes, stuffed zeros and restart markers", () => {
    assert.strictEqual(size(readJpeg(Buffer.concat([sample("greyJpeg"), Buffer.from("MPF")]))), "7x5")
    assert.strictEqual(size(readJpeg(withSegment(Buffer.from([0xff, 0xff, 0xff])))), "7x5")
    const jpeg = sample("greyJpeg")
    const scan = Buffer.from([0xff, 0x00, 0x11, 0xff, 0xd0, 0x22, 0xff, 0xff])
    assert.strictEqual(size(readJpeg(Buffer.concat([jpeg.subarray(0, -2), scan, jpeg.subarray(-2)]))), "7x5")
  })

  it("refuses markers out of place", () => {
    for (const marker of [0x00, 0x01, 0x4f, 0xd0, 0xd7, 0xd8]) {
      assert.include(size(readJpeg(withSegment(segment(marker, Buffer.alloc(2))))), "out of place", `marker ${marker}`)
    }
  })

  it("refuses a file without a frame or without a scan", () => {
    assert.include(size(readJpeg(Buffer.from([0xff, 0xd8, 0xff, 0xd9]))), "no pixel data")
    assert.include(size(readJpeg(withSegment(segment(0xda, Buffer.alloc(6))))), "no frame header")
    const jpeg = sample("greyJpeg")
    const scanless = Buffer.concat([
      jpeg.subarray(0, jpeg.indexOf(Buffer.from([0xff, 0xda]))),
      Buffer.from([0xff, 0xd9])
    ])
    assert.include(size(readJpeg(scanless)), "no pixel data")
  })

  it("refuses the kinds that no model server reads", () => {
    for (const marker of [0xc3, 0xc5, 0xc9, 0xcf]) {
      assert.include(size(readJpeg(withFrame((frame) => frame.writeUInt8(marker, 1)))), "cannot read")
    }
    assert.include(size(readJpeg(withFrame((frame) => frame.writeUInt8(12, 4)))), "cannot read")
  })

  it("refuses sizes out of bounds", () => {
    assert.include(size(readJpeg(withFrame((frame) => frame.writeUInt16BE(0, 5)))), "7x0 pixels")
    assert.include(size(readJpeg(withFrame((frame) => frame.writeUInt16BE(65535, 7)))), "65535x5 pixels")
    const large = withFrame((frame) => {
      frame.writeUInt16BE(16384, 5)
      frame.writeUInt16BE(16384, 7)
    })
    assert.include(size(readJpeg(large)), "16384x16384 pixels")
  })
})
