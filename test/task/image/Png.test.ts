import { assert, describe, it } from "@effect/vitest"
import { type Header, isDimensions } from "../../../src/task/image/Dimensions.ts"
import { isPng, readPng } from "../../../src/task/image/Png.ts"
import { makePng, pngChunk } from "../../support/Png.ts"
import { sample } from "./samples.ts"

const size = (header: Header): string => (isDimensions(header) ? `${header.width}x${header.height}` : header.en)

/** `extra` comes right after IHDR, which ends at 33. */
const withChunk = (extra: Buffer): Buffer => {
  const png = makePng(4, 4)
  return Buffer.concat([png.subarray(0, 33), extra, png.subarray(33)])
}

/** A PNG whose IHDR has `value` at `at`, counted in its 13 bytes. */
const withHeader = (at: number, ...value: ReadonlyArray<number>): Buffer => {
  const png = makePng(4, 4)
  const header = Buffer.from(png.subarray(16, 29))
  header.set(value, at)
  return Buffer.concat([png.subarray(0, 8), pngChunk("IHDR", header), png.subarray(33)])
}

describe("readPng", () => {
  it("reads the size from 1x1 up", () => {
    // C12
    assert.strictEqual(size(readPng(sample("png1x1"))), "1x1")
    assert.strictEqual(size(readPng(sample("png30x305"))), "30x305")
    assert.strictEqual(size(readPng(sample("png64x64"))), "64x64")
    assert.strictEqual(size(readPng(makePng(17, 9, { bytes: 5000 }))), "17x9")
  })

  it("takes an animation for its still picture", () => {
    assert.strictEqual(size(readPng(sample("animatedPng"))), "7x5")
  })

  it("refuses a file that is cut off anywhere", () => {
    // C11
    const png = sample("png64x64")
    for (let length = 0; length < png.length; length++) {
      const cut = png.subarray(0, length)
      assert.isFalse(isPng(cut) && isDimensions(readPng(cut)), `cut at ${length}`)
    }
  })

  it("refuses a change of any byte that a checksum covers", () => {
    const png = makePng(4, 4)
    for (let at = 8; at < png.length; at++) {
      const changed = Buffer.from(png)
      changed[at]! ^= 0x01
      assert.isFalse(isDimensions(readPng(changed)), `byte ${at}`)
    }
  })

  it("takes bytes after the end, which decoders do not read", () => {
    assert.strictEqual(size(readPng(Buffer.concat([makePng(4, 4), Buffer.from("tail")]))), "4x4")
  })

  it("refuses sizes out of bounds, however small the file", () => {
    assert.include(size(readPng(withHeader(0, 0, 0, 0, 0))), "0x4 pixels")
    assert.include(size(readPng(withHeader(0, 0xff, 0xff, 0xff, 0xff))), "4294967295x4 pixels")
    assert.include(size(readPng(withHeader(0, 0, 0, 0x40, 1))), "16385x4 pixels")
    assert.include(size(readPng(withHeader(0, 0, 0, 0x40, 0, 0, 0, 0x10, 1))), "67108864 pixels in all")
    assert.strictEqual(size(readPng(withHeader(0, 0, 0, 0x40, 0, 0, 0, 0x10, 0))), "16384x4096")
  })

  it("refuses header values that do not exist", () => {
    for (const [at, value] of [
      [8, 3],
      [9, 1],
      [9, 3],
      [10, 1],
      [11, 1],
      [12, 2]
    ] as const) {
      assert.include(size(readPng(withHeader(at, value))), "damaged PNG", `byte ${at}`)
    }
  })

  it("refuses chunks out of order and unknown critical ones, and takes unknown ancillary ones", () => {
    assert.strictEqual(size(readPng(withChunk(pngChunk("abCd", Buffer.alloc(9))))), "4x4")
    assert.include(size(readPng(withChunk(pngChunk("ABCd", Buffer.alloc(9))))), "critical")
    assert.include(size(readPng(withChunk(pngChunk("IHDR", Buffer.alloc(13))))), "two IHDR")
    assert.include(size(readPng(withChunk(pngChunk("IEND", Buffer.alloc(0))))), "no pixel data")
    assert.include(size(readPng(withChunk(pngChunk("PLTE", Buffer.alloc(4))))), "palette")
    const apart = Buffer.concat([pngChunk("IDAT", Buffer.alloc(1)), pngChunk("tEXt", Buffer.alloc(1))])
    assert.include(size(readPng(withChunk(apart))), "apart")
  })
})
