import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { NdjsonLines } from "../../src/ollama/NdjsonLines.ts"

describe("NdjsonLines", () => {
  it("gives the same lines however the bytes are cut", () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", ""))
    fc.assert(
      fc.property(fc.array(line), line, fc.array(fc.nat({ max: 400 })), (lines, last, cuts) => {
        const bytes = Buffer.from([...lines.map((each) => `${each}\n`), last].join(""))
        const edges = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b)
        const cutter = new NdjsonLines(1 << 20)
        const found = edges.slice(1).flatMap((end, index) => cutter.push(bytes.subarray(edges[index], end)) ?? ["?"])
        assert.deepStrictEqual([...found, cutter.rest()], [...lines, last])
      })
    )
  })

  it("refuses a line beyond its limit, whether its end has come or not", () => {
    assert.deepStrictEqual(new NdjsonLines(3).push(Buffer.from("abc\nabc")), ["abc"])
    assert.isNull(new NdjsonLines(3).push(Buffer.from("abcd\n")))
    const cutter = new NdjsonLines(3)
    assert.deepStrictEqual(cutter.push(Buffer.from("ab")), [])
    assert.isNull(cutter.push(Buffer.from("cd")))
  })

  // joining anew for each chunk would take minutes, which is beyond the limit of any test
  it("joins a line of many chunks once", () => {
    const chunk = Buffer.alloc(1024, "x")
    const cutter = new NdjsonLines(64 << 20)
    for (let count = 0; count < 32 * 1024; count++) cutter.push(chunk)
    assert.strictEqual(cutter.push(Buffer.from("\n"))?.[0]?.length, 32 << 20)
  })
})
