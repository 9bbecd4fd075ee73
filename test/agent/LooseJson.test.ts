import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as fc from "fast-check"
import { endOfValue, parseLoose } from "../../src/agent/LooseJson.ts"

const object = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue(), { minKeys: 1, noNullPrototype: true })

describe("parseLoose", () => {
  it("reads all JSON as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepStrictEqual(parseLoose(JSON.stringify(value)), Option.some(JSON.parse(JSON.stringify(value))))
      })
    )
  })

  it("never completes an object that was cut off", () => {
    fc.assert(
      fc.property(object, fc.nat(), (value, at) => {
        const text = JSON.stringify(value)
        assert.isTrue(Option.isNone(parseLoose(text.slice(0, at % text.length))))
      }),
      { numRuns: 2000 }
    )
  })

  it("never completes source code that was cut off in a string that looks like the object's end", () => {
    for (const text of ['{"a":"b}', '{"content":"f() { g() }}', "{'content': 'f(){}}", '{"path":"a,"content":"b"}']) {
      assert.isTrue(Option.isNone(parseLoose(text)), text)
    }
  })

  it("mends nothing but commas and quotes", () => {
    for (const text of ['{"a" "b"}', '{"a": True}', '{"a": 1 // one\n}', '{"a": "b" + "c"}', '{"a": 1}\n{"b": 2}']) {
      assert.isTrue(Option.isNone(parseLoose(text)), text)
    }
    assert.deepStrictEqual(parseLoose('{"say": "he said "hi" to me",}'), Option.some({ say: 'he said "hi" to me' }))
  })
})

describe("endOfValue", () => {
  it("finds the end of every object, whatever follows", () => {
    fc.assert(
      fc.property(object, fc.string(), (value, rest) => {
        const text = JSON.stringify(value)
        assert.strictEqual(endOfValue(text + rest, 0), text.length)
      })
    )
  })
})
