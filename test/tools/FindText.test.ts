import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { findText } from "../../src/tools/FindText.ts"
import { applyAll } from "../../src/tools/UnifiedDiff.ts"

/** The file after the edit, or why there is none. */
const edited = (file: string, old: string, replacement: string, all = false): string => {
  const found = findText(file, old, replacement, all)
  return found.kind === "found" ? applyAll(file, found.replacements) : found.kind
}

describe("findText", () => {
  it("finds lines whose ends differ, and keeps those of the file", () => {
    assert.strictEqual(edited("a\r\nb\r\nc\r\n", "a\nb", "x\ny"), "x\r\ny\r\nc\r\n")
    assert.strictEqual(edited("a\nb\nc\n", "a\r\nb\r\n", "x\r\n"), "x\nc\n")
    assert.strictEqual(edited("a\r\nb\r\n", "b", "x\ny"), "a\r\nx\r\ny\r\n")
  })

  it("finds lines despite white space at their ends", () => {
    assert.strictEqual(edited("f() {  \n  g()\t\n}\n", "f() {\n  g()\n}", "h()"), "h()\n")
  })

  it("finds lines at another indentation, and gives it to the new ones", () => {
    const file = "class A {\n    f() {\n        g()\n    }\n}\n"
    assert.strictEqual(
      edited(file, "f() {\n    g()\n}", "f() {\n    if (x) {\n        h()\n    }\n}"),
      "class A {\n    f() {\n        if (x) {\n            h()\n        }\n    }\n}\n"
    )
    assert.strictEqual(edited("a:\n  b\n", "      a:\n        b\n", "      a:\n        c\n"), "a:\n  c\n")
    assert.strictEqual(
      edited("x {\n\ty {\n\t\tz\n\t}\n}\n", "    y {\n        z\n    }", "    y {\n        w\n    }"),
      "x {\n\ty {\n\t\tw\n\t}\n}\n"
    )
    assert.strictEqual(edited("x\n    y\n", "x\n\ty", "x\n\tz"), "x\n    z\n")
  })

  it("keeps its hands off where the indentation follows no rule", () => {
    assert.strictEqual(edited("  a\n b\n", "a\nb", "c"), "missing")
  })

  it("finds a text that was copied with its line numbers", () => {
    assert.strictEqual(edited("a\nb\nc\n", "2|b\n3|c\n", "2|x\n3|y\n"), "a\nx\ny\n")
    assert.strictEqual(edited("a\nb\nc\n", "2|b\n3|c", "x"), "a\nx\n")
  })

  it("is ambiguous where white space is all that tells two places apart", () => {
    assert.strictEqual(edited("  a\n    a\n", "\ta", "b"), "ambiguous")
    assert.strictEqual(edited("aXa", "a", "b"), "ambiguous")
  })

  it("does not take blank lines for a text", () => {
    assert.strictEqual(edited("a\n\n\nb\n", " \n \n", "x"), "missing")
  })

  it("changes exactly the one place where a text stands once, whatever it is", () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "$", "&", "\n", "\r\n", " ", "\t", "日", "|", "1") })
    fc.assert(
      fc.property(piece, piece, piece, piece, (before, old, after, replacement) => {
        const file = `${before}<${old}>${after}`
        fc.pre(!/\r\n/.test(file))
        assert.strictEqual(edited(file, `<${old}>`, replacement), before + replacement + after)
      })
    )
  })

  it("always replaces within the file, if at all", () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", " ", "\t", "1|") })
    fc.assert(
      fc.property(
        piece,
        fc.string({ minLength: 1, unit: fc.constantFrom("a", "b", "\n", " ", "\t", "1|") }),
        (file, old) => {
          const found = findText(file, old, "NEW", false)
          if (found.kind !== "found") return
          const [{ start, end } = { start: -1, end: -1 }] = found.replacements
          assert.isTrue(start >= 0 && start <= end && end <= file.length)
          assert.strictEqual(file.slice(start, end).replace(/[\s|1]/g, ""), old.replace(/[\s|1]/g, ""))
        }
      )
    )
  })
})
