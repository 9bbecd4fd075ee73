import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { decodeBase64, decodedSize } from "../../../src/task/image/StrictBase64.ts"
import { SAMPLES } from "./samples.ts"

const refusal = (text: string): string => {
  const decoded = decodeBase64(text)
  assert.isFalse(decoded instanceof Uint8Array, `taken: ${text.slice(0, 40)}`)
  return decoded instanceof Uint8Array ? "" : decoded.en
}

describe("decodeBase64", () => {
  it("gives back any bytes from their standard Base64, and their size from the text alone", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64")
        assert.deepStrictEqual(Uint8Array.from(decodeBase64(text) as Uint8Array), bytes)
        assert.strictEqual(decodedSize(text), bytes.length)
      })
    )
  })

  it("takes a text that is its own canonical form and refuses every other, without throwing", () => {
    const nearly = fc.string({ unit: fc.constantFrom("A", "z", "/", "+", "=", "-", "_", " ", "\n", "é", "\ud800") })
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string({ unit: "binary" })), (text) => {
        const canonical = text !== "" && /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text === btoaOf(text)
        assert.strictEqual(decodeBase64(text) instanceof Uint8Array, canonical)
      }),
      { numRuns: 500 }
    )
  })

  it("refuses a data: URL by its name", () => {
    // C01
    assert.include(refusal(`data:image/png;base64,${SAMPLES.png64x64}`), "data: URL")
    assert.include(refusal("DATA:,AAAA"), "data: URL")
  })

  it("refuses URLs and opens none", () => {
    // C02
    for (const url of ["https://example.invalid/cat.png", "file:///etc/passwd", "HTTP://x"]) {
      assert.include(refusal(url), "URL")
    }
  })

  it("refuses the URL-safe alphabet and names the character", () => {
    // C03
    assert.include(refusal("_-A="), 'Character 1 ("_")')
    assert.include(refusal("AAA-"), 'Character 4 ("-")')
  })

  it("refuses line breaks and white space anywhere", () => {
    // C04
    const wrapped = SAMPLES.png64x64.replace(/.{76}/g, "$&\r\n")
    assert.include(refusal(wrapped), "Character 77 (U+000D)")
    assert.include(refusal(`${SAMPLES.png64x64}\n`), "U+000A")
    assert.include(refusal(` ${SAMPLES.png64x64}`), "Character 1 (U+0020)")
  })

  it("refuses padding that is missing, too long or in the middle", () => {
    // C05
    for (const text of [SAMPLES.png64x64.slice(0, -1), "A", "A===", "AB", "AA=A", "AAAA====", "AAAA=", "====", "="]) {
      assert.include(refusal(text), "padding", text)
    }
    assert.isTrue(decodeBase64("AAAA") instanceof Uint8Array)
  })

  it("refuses bits that stand for nothing", () => {
    assert.include(refusal("AB=="), "bits")
    assert.include(refusal("AAB="), "bits")
  })

  it("refuses emptiness in words", () => {
    // C07
    for (const text of ["", "   ", "\n"]) assert.include(refusal(text), "empty")
  })

  it("shows characters beyond ASCII by number only, in one line", () => {
    assert.include(refusal("AAA\u2028"), "U+2028")
    assert.include(refusal("AA😀"), "U+1F600")
    assert.include(refusal("AAA\ud800"), "U+D800")
  })
})

const btoaOf = (text: string): string => Buffer.from(text, "base64").toString("base64")
