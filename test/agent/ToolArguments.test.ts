import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { readArguments } from "../../src/agent/ToolArguments.ts"

const right = (written: unknown) => Either.getOrThrow(readArguments(written))

describe("readArguments", () => {
  // A44
  it("takes nothing in any form for no arguments", () => {
    for (const nothing of [undefined, null, "", "  ", "{}", "null", {}]) assert.deepStrictEqual(right(nothing), {})
  })

  it("reads an object that was written as a string, also twice", () => {
    assert.deepStrictEqual(right('{"path": "a"}'), { path: "a" })
    assert.deepStrictEqual(right(JSON.stringify('{"path": "a"}')), { path: "a" })
    assert.deepStrictEqual(right("{'path': 'a',}"), { path: "a" })
  })

  it("refuses everything else with the reason", () => {
    for (const [written, reason] of [
      [[], /an array/],
      ["[]", /an array/],
      [3, /a number/],
      ["3", /a number/],
      [true, /a boolean/],
      ["a.txt", /not valid JSON/],
      ['{"path": "a', /cut off/]
    ] as const) {
      assert.match(Either.getOrThrow(Either.flip(readArguments(written))), reason)
    }
  })
})
