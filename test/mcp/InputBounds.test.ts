import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { bounded } from "../../src/mcp/InputBounds.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { call, legacy } from "./Messages.ts"
import { openPipe } from "./Pipe.ts"
import { settingsLayer } from "./TestSettings.ts"

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth))

const refusal = (args: object, mend: (line: string) => string = (line) => line) =>
  Effect.gen(function* () {
    const pipe = yield* openPipe
    yield* pipe.send(mend(JSON.stringify(legacy(1, "tools/call", call("agent_run", args)))))
    const reply = yield* pipe.next
    assert.isTrue(reply.result.isError, JSON.stringify(reply.error))
    return reply.result.content[0]?.text ?? ""
  }).pipe(Effect.scoped, Effect.provide(Layer.merge(TasksFake.layer, settingsLayer({ locale: "en" }))))

describe("arguments beyond all measure", () => {
  it("what is small is the same, and of the rest enough is left to be refused", () => {
    const small = { request: "hi", images: [{ mime_type: "image/png", data_base64: "AAAA" }], ["__proto__"]: [1] }
    assert.deepStrictEqual(bounded(small, []), small)
    assert.deepStrictEqual(bounded(nested(2000), []), [[[[]]]])
    assert.lengthOf(bounded(new Array(1000).fill(1), []) as Array<unknown>, 200)
    const wide = Object.fromEntries([...Array.from({ length: 1000 }, (_, index) => [`k${index}`, 1]), ["last", 2]])
    assert.propertyVal(bounded(wide, ["last"]) as object, "last", 2)
    assert.lengthOf(Object.keys(bounded(wide, ["last"]) as object), 51)
  })

  it.live("deep nesting is a wrong value", () =>
    Effect.gen(function* () {
      for (const field of ["request", "session_id", "temperature", "images"]) {
        // JSON.stringify cannot write what JSON.parse reads.
        const deep = "[".repeat(100_000) + "]".repeat(100_000)
        const text = yield* refusal({ request: "hi", [field]: "DEEP" }, (line) => line.replace('"DEEP"', deep))
        assert.match(text, new RegExp(`^${field}(\\[0\\])?: an array is not accepted`), text)
      }
    })
  )

  it.live("what has very many elements or members is refused in time that does not grow with their square", () =>
    Effect.gen(function* () {
      const many = 300_000
      const text = yield* refusal({ request: "", images: new Array(many).fill(1) })
      assert.include(text, `images: an array of ${many} elements is not accepted`)
      assert.include(text, "request: ")
      const members = Object.fromEntries(Array.from({ length: many }, (_, index) => [`k${index}`, 1]))
      const unknown = yield* refusal({ request: "hi", ...members })
      assert.lengthOf(unknown.split("\n"), 51)
      assert.include(unknown, `there are at least ${many - 50} further problems`)
    })
  )
})
