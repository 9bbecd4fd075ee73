import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { errorText, serverText } from "../../src/ollama/ServerText.ts"

describe("serverText", () => {
  it("is one line of at most 2 KiB of sound characters, whatever comes in", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 6000 }), (text) => {
        const shown = serverText(text)
        assert.isAtMost(Buffer.byteLength(shown), 2048)
        assert.notMatch(shown, /[\p{Cc}\u2028\u2029]/u)
      })
    )
  })

  it("keeps the links that anybody may see, and no other", () => {
    assert.strictEqual(serverText("get it at: https://ollama.com/download"), "get it at: https://ollama.com/download")
    for (const link of [
      "https://ollama.com/connect?name=x&key=y",
      "https://ollama.com/download?token=y",
      "http://me:secret@ollama.com/download",
      "https:\\/\\/ollama.com\\/connect?key=y",
      "HTTPS://login.example.com/device/ABCD"
    ]) {
      assert.strictEqual(serverText(`see ${link} now`), "see [link] now")
    }
  })
})

describe("errorText", () => {
  it("finds the words in any kind of body", () => {
    assert.strictEqual(errorText(`{"error":"a"}`), "a")
    assert.strictEqual(errorText(`{"error":{"message":"b","code":1}}`), "b")
    assert.strictEqual(errorText(`{"message":"c"}`), "c")
    assert.strictEqual(errorText(`{"detail":{"error":"d"}}`), "d")
    assert.strictEqual(errorText(`{"code":7}`), `{"code":7}`)
    assert.strictEqual(errorText(`[1]`), "[1]")
    assert.strictEqual(errorText("  plain words\n"), "plain words")
    assert.strictEqual(
      errorText("<!DOCTYPE html><head><style>a{}</style><title>502 Bad Gateway</title></head><hr>nginx"),
      "an HTML page: 502 Bad Gateway nginx"
    )
    assert.strictEqual(errorText(""), "")
  })
})
