import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import * as yaml from "yaml"
import { readTree } from "../../src/config/ConfigTree.ts"
import { readPlainYaml } from "../../src/config/PlainYaml.ts"

const shipped = readFileSync("agent.yaml", "utf8")
const parsed = (text: string) => {
  const tree = readTree(yaml, text, () => false)
  return { problems: tree.problems, value: JSON.stringify(tree.value) }
}

/** Null, or what the parser reads without a problem. */
const holds = (text: string) => {
  const plain = readPlainYaml(text)
  if (plain !== null) assert.deepStrictEqual(parsed(text), { problems: [], value: JSON.stringify(plain) }, text)
}

describe("readPlainYaml", () => {
  it("reads the shipped file", () => {
    assert.strictEqual(JSON.stringify(readPlainYaml(shipped)), parsed(shipped).value)
  })

  it("reads sections, words, numbers, sizes and comments", () => {
    const text =
      "# 設定\nlocale: en # English\nollama:\n    model: hf.co/a/B_c:Q4\n    num_ctx: 4096\n\n  \nmcp:\n  http:\n    host: 127.0.0.1\n  images:\n    max_bytes: 10MiB\nlog:\n  file: null\n"
    assert.deepEqual(JSON.parse(JSON.stringify(readPlainYaml(text))), {
      locale: "en",
      ollama: { model: "hf.co/a/B_c:Q4", num_ctx: 4096 },
      mcp: { http: { host: "127.0.0.1" }, images: { max_bytes: "10MiB" } },
      log: { file: null }
    })
    holds(text)
  })

  it("leaves to the parser whatever may be wrong or mean something else", () => {
    const others = [
      "a: ~",
      "a:",
      "a:\n",
      "a: 01",
      "a: 1e3",
      "a: 0x1",
      "a: .inf",
      "a: True",
      "a: NULL",
      "a: 'x'",
      'a: "x"',
      "a: {}",
      "a: [b]",
      "a: &x b",
      "a: *x",
      "a: !t b",
      "a: |\n  b",
      "a: b c",
      "a: b\n  c: d",
      "a: b#c",
      "a:b",
      "a: b:",
      "a : b",
      "a:  b",
      "- a",
      "a\n",
      "---\na: b",
      "%YAML 1.1\n---\na: b",
      "a: b\na: c",
      "a: b\r\n",
      "\ta: b",
      "a:\n\tb: c",
      "a:\n  b: c\n d: e",
      "  a: b\nc: d",
      "a: b\n...\nc: d",
      "__proto__:\n  a: b",
      "a: b # \u0007",
      "# \u0007",
      "<<: a",
      "A: b",
      "a: -1",
      "a: 1.5",
      "a: 2026-01-01",
      "a: ~/x",
      "a: ./x",
      "a: b?",
      "? a"
    ]
    for (const text of others) holds(text)
    for (const text of others.filter((text) => text !== "a:  b" && !text.startsWith("a: b#c"))) {
      if (text !== "__proto__:\n  a: b") assert.isNull(readPlainYaml(text), JSON.stringify(text))
    }
  })

  it("never reads a file otherwise than the parser does", () => {
    const usually = (common: ReadonlyArray<string>, odd: ReadonlyArray<string>) =>
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...common) }, { weight: 1, arbitrary: fc.constantFrom(...odd) })
    const indent = usually(["", "  ", "    "], [" ", "   ", "\t"])
    const key = usually(["a", "b", "c_d", "e", "f", "g"], ["#", "- a", "?", "A", "<<", "1"])
    const colon = usually([": ", ":"], [":  ", " : ", ""])
    const value = usually(
      ["", "", "", "a", "true", "null", "1", "0", "10m", "10MiB", "127.0.0.1", "x:y", "[]", '""'],
      ["on", "1.2", "x:", "#", "# c", "#c", "{}", "'q'", "~", "-", "-1", "1e1", "01", "False", "é", "0x1", "|", "&a"]
    )
    const rest = usually(["", " # c", " "], ["#", "\r", " #", " x", "\t"])
    const line = fc.tuple(indent, key, colon, value, rest).map((parts) => parts.join(""))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.constantFrom("", "\n"), (lines, end) =>
        holds(lines.join("\n") + end)
      ),
      { numRuns: 3000 }
    )
  })

  it("never reads a changed shipped file otherwise than the parser does", () => {
    const change = fc.tuple(
      fc.nat(shipped.length),
      fc.nat(3),
      fc.constantFrom(
        "",
        " ",
        "  ",
        "\n",
        ":",
        ": ",
        "#",
        " #",
        "-",
        "a",
        "0",
        "~",
        "'",
        "[",
        "\t",
        "\r",
        "&",
        "*",
        "!",
        "|",
        "%",
        "é"
      )
    )
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) =>
        holds(changes.reduce((text, [at, gone, added]) => text.slice(0, at) + added + text.slice(at + gone), shipped))
      ),
      { numRuns: 300 }
    )
  })
})
