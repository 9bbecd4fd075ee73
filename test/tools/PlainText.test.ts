import { assert, describe, it } from "@effect/vitest"
import { OutputCapture } from "../../src/tools/OutputCapture.ts"
import { plainLine, plainText, shownName } from "../../src/tools/PlainText.ts"

describe("plainText", () => {
  // D12
  it("removes escapes and keeps the last state of a progress line", () => {
    let raw = ""
    for (let step = 1; step <= 2000; step++) raw += `\r\u001b[32m${step}%\u001b[0m`
    assert.strictEqual(plainText(`${raw}\u001b]0;owned\u0007\u001b[2J end`), "2000% end")
  })

  it("removes every kind of control sequence, also one that is cut off", () => {
    const kinds = [
      "\u001b[1;31m",
      "\u001b]8;;http://x\u001b\\",
      "\u001bPq\u001b\\",
      "\u009b31m",
      "\u001b(B",
      "\u001bM",
      "\u0007",
      "\0",
      "\u0085"
    ]
    for (const kind of kinds) assert.strictEqual(plainText(`a${kind}b`), "ab", JSON.stringify(kind))
    assert.strictEqual(plainText("a\u001b"), "a")
    assert.strictEqual(plainText("a\u001b["), "a")
    assert.strictEqual(plainText("a\u001b]0;never ended"), "a")
  })

  it("keeps lines, tabs and letters of all kinds, and takes back what was struck over", () => {
    assert.strictEqual(plainText("a\tb\r\n日本 é\n"), "a\tb\n日本 é\n")
    assert.strictEqual(plainText("N\bNA\bAME\b\b!"), "NA!")
  })

  it("takes no longer for hostile text than for any other", () => {
    const begun = performance.now()
    plainText("\u001b]".repeat(50_000) + "\u001b[".repeat(50_000) + "\u001bP".repeat(50_000) + "\r".repeat(100_000))
    assert.isBelow(performance.now() - begun, 2000)
  })
})

describe("plainLine and shownName", () => {
  it("put everything on one line", () => {
    assert.strictEqual(plainLine("a\nb\u001b[31m c\u2028d\ud800", 80), "a b c d\ufffd")
    assert.strictEqual(plainLine("abcdef", 4), "abc…")
    assert.strictEqual(shownName(Buffer.from("\xe9\n\x1b", "latin1")), "\\xe9\\n\\x1b")
    assert.strictEqual(shownName("日本 \u202e"), "日本 \\u202e")
  })
})

describe("OutputCapture", () => {
  it("keeps all of a short output and both ends of a long one", () => {
    const short = new OutputCapture()
    short.push(Buffer.from("a\n"))
    short.push(Buffer.from("b\n"))
    assert.strictEqual(short.text(1000), "a\nb")
    const long = new OutputCapture()
    for (let line = 1; line <= 100_000; line++) long.push(Buffer.from(`line ${line}\n`))
    const text = long.text(3000)
    assert.isAtMost(Buffer.byteLength(text), 3200)
    assert.match(
      text,
      /^line 1\nline 2\n[\s\S]*line \d+\n… \[about \d+ bytes left out\] …\nline \d+\n[\s\S]*line 100000$/
    )
  })

  it("gives the same whatever the pieces were", () => {
    const whole = Buffer.from(Array.from({ length: 30_000 }, (_, line) => `日本 ${line}`).join("\n"))
    const texts = [1, 7, 4096, 65_536, 65_537, 200_000, whole.length].map((size) => {
      const capture = new OutputCapture()
      for (let at = 0; at < whole.length; at += size) capture.push(whole.subarray(at, at + size))
      assert.strictEqual(capture.totalBytes, whole.length)
      return capture.text(5000)
    })
    assert.strictEqual(new Set(texts).size, 1)
    assert.notInclude(texts[0]!, "\ufffd")
  })
})
