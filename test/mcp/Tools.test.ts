import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { Caller } from "../../src/domain/Caller.ts"
import { agentTools, type ToolAnswer } from "../../src/mcp/Tools.ts"
import { StoreFailed } from "../../src/store/StoreFailed.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { type SettingsChange, settingsLayer } from "./TestSettings.ts"

const owner: Caller = { token: null, via: "stdio" }

const run = (input: unknown, caller = owner) => agentTools.call("agent_run", input, caller)
const status = (input: unknown, caller = owner) => agentTools.call("agent_status", input, caller)

const accepted = (answer: ToolAnswer) => {
  if (answer._tag !== "Accepted") throw new Error(answer.text)
  return answer.task
}
const sentences = (answer: ToolAnswer) => {
  if (answer._tag !== "Text") throw new Error("it was accepted")
  assert.isTrue(answer.isError, answer.text)
  return answer.text.split("\n")
}
const text = (answer: ToolAnswer) => {
  if (answer._tag !== "Text") throw new Error("it was accepted")
  assert.isFalse(answer.isError, answer.text)
  return answer.text
}

const layer = (change: SettingsChange = {}) => Layer.merge(TasksFake.layer, settingsLayer({ locale: "en", ...change }))

describe("Tools", () => {
  it("the definitions are the contract's, byte for byte", () => {
    const hash = createHash("sha256").update(JSON.stringify(agentTools.definitions)).digest("hex")
    assert.strictEqual(JSON.stringify(agentTools.definitions).length, definitionsLength)
    assert.strictEqual(hash, definitionsHash)
  })

  it.effect("a request alone becomes a task in a new session", () =>
    Effect.gen(function* () {
      const task = accepted(yield* run({ request: "hi" }))
      assert.strictEqual(task.status, "queued")
      const [submitted] = yield* (yield* TasksFake).submitted
      assert.deepInclude(submitted, { request: "hi", sessionId: null, temperature: null, images: [], caller: owner })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("every argument reaches the task", () =>
    Effect.gen(function* () {
      const first = accepted(yield* run({ request: "hi" }))
      yield* run({
        request: "again",
        session_id: first.sessionId.toUpperCase(),
        temperature: 0.5,
        images: [{ mime_type: "image/png", data_base64: "AAAA" }]
      })
      const [, submitted] = yield* (yield* TasksFake).submitted
      assert.strictEqual(submitted?.sessionId?.toLowerCase(), first.sessionId)
      assert.strictEqual(submitted?.temperature, 0.5)
      assert.deepStrictEqual(submitted?.images, [{ mimeType: "image/png", dataBase64: "AAAA" }])
    }).pipe(Effect.provide(layer()))
  )

  // B12
  it.effect("the string null is taken as null for the three optional arguments, and nothing like it is", () =>
    Effect.gen(function* () {
      accepted(yield* run({ request: "hi", session_id: "null", temperature: "null", images: "null" }))
      accepted(yield* run({ request: "null" }))
      assert.deepStrictEqual(sentences(yield* run({ request: "hi", images: ["null"] })), [
        "images[0]: a string is not accepted. Give an object with mime_type and data_base64."
      ])
      assert.lengthOf(sentences(yield* run({ request: "hi", temperature: "NULL" })), 1)
      assert.lengthOf(sentences(yield* run({ request: "hi", temperature: "" })), 1)
      assert.lengthOf(sentences(yield* run({ request: "hi", images: "" })), 1)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("one refusal has a line for every problem, those of types and those of values", () =>
    Effect.gen(function* () {
      const lines = sentences(
        yield* run({
          request: " ",
          session_id: 5,
          temperature: 3,
          images: [null, { mime_type: 1 }, { mime_type: "a", data_base64: "b", c: 1 }],
          toolCallId: "x"
        })
      )
      assert.deepStrictEqual(
        lines.map((line) => line.split(":")[0]),
        [
          "toolCallId",
          "session_id",
          "images[0]",
          "images[1].mime_type",
          "images[1].data_base64",
          "images[2].c",
          "request",
          "temperature"
        ]
      )
      assert.deepStrictEqual(yield* (yield* TasksFake).submitted, [])
      assert.lengthOf(yield* (yield* TasksFake).refusals, 1)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a line names the field, what is wrong and what is accepted, in the language of the settings", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(sentences(yield* run({ temperature: "hot" })), [
        "request: 必須ですが、ありません。空白だけでない文字列を指定してください。",
        'temperature: 文字列 "hot" は使えません。0.0 から 2.0 までの数値か null を指定してください。'
      ])
    }).pipe(Effect.provide(layer({ locale: "ja" })))
  )

  // B15
  it.effect("unknown properties are refused by name, also those that a prototype has", () =>
    Effect.gen(function* () {
      const one = (name: string) =>
        Effect.map(
          run(JSON.parse(`{"request":"hi","${name}":{"a":1}}`)),
          (answer) => sentences(answer)[0]?.split(":")[0]
        )
      for (const name of ["toolCallId", "__proto__", "constructor", "toString", "hasOwnProperty"]) {
        assert.strictEqual(yield* one(name), name)
      }
      assert.isUndefined(({} as Record<string, unknown>).a)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a name that the client made up stays on its line", () =>
    Effect.gen(function* () {
      const lines = sentences(yield* run({ request: "hi", [`a\nb${"x".repeat(500)}`]: 1, "": 2 }))
      assert.lengthOf(lines, 2)
      assert.isTrue(lines[0]?.startsWith("a b"))
      assert.isTrue(lines[1]?.startsWith('"":'))
      const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, 1]))
      assert.lengthOf(sentences(yield* run({ request: "hi", ...many })), 51)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("names listed in ignored_arguments are dropped, but never the tool's own", () =>
    Effect.gen(function* () {
      accepted(yield* run({ request: "hi", toolCallId: "x", sessionId: {} }))
      const [submitted] = yield* (yield* TasksFake).submitted
      assert.strictEqual(submitted?.request, "hi")
      assert.lengthOf(sentences(yield* run({ request: "hi", action: 1 })), 1)
    }).pipe(Effect.provide(layer({ ignoredArguments: ["toolCallId", "sessionId", "request"] })))
  )

  it.effect("arguments that are no object are a tool error", () =>
    Effect.gen(function* () {
      for (const input of [null, [], "x", 5]) assert.lengthOf(sentences(yield* run(input)), 1)
      assert.deepStrictEqual(sentences(yield* status(undefined)), [
        "task_id: is required but missing. Give the UUID of a task that agent_run returned."
      ])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("image data is in no answer", () =>
    Effect.gen(function* () {
      const answer = yield* run({
        request: "hi",
        images: ["SECRETDATA", { mime_type: "a", data_base64: ["SECRETDATA"] }]
      })
      assert.notInclude(sentences(answer).join("\n"), "SECRET")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("agent_status finds a task in any case of its id, and only in its session", () =>
    Effect.gen(function* () {
      const task = accepted(yield* run({ request: "hi" }))
      const other = accepted(yield* run({ request: "hi" }))
      assert.include(text(yield* status({ task_id: task.id.toUpperCase() })), `task_id: ${task.id}\n`)
      assert.include(
        text(yield* status({ task_id: task.id, session_id: task.sessionId.toUpperCase() })),
        "status: queued"
      )
      assert.include(text(yield* status({ task_id: task.id, session_id: "null" })), "status: queued")
      const notFound = `task_id: ${task.id}\nstatus: failed\nmessage: Task ${task.id} was not found.`
      assert.strictEqual(text(yield* status({ task_id: task.id, session_id: other.sessionId })), notFound)
      yield* (yield* TasksFake).expire(task.id)
      assert.strictEqual(text(yield* status({ task_id: task.id.toUpperCase() })), notFound)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a task of another token is not found, and the owner sees it", () =>
    Effect.gen(function* () {
      const task = accepted(yield* run({ request: "hi" }, { token: "a", via: "http" }))
      assert.include(text(yield* status({ task_id: task.id }, { token: "b", via: "http" })), "was not found")
      assert.include(text(yield* status({ task_id: task.id }, { token: "a", via: "http" })), "status: queued")
      assert.include(text(yield* status({ task_id: task.id })), "status: queued")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("agent_status of a failed task is no tool error", () =>
    Effect.gen(function* () {
      const task = accepted(yield* run({ request: "hi" }))
      yield* (yield* TasksFake).finish(task.id, "failed", "no model")
      assert.include(text(yield* status({ task_id: task.id })), "status: failed\n")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a bad task id and a bad session id are refused together, and the refusal is logged", () =>
    Effect.gen(function* () {
      const lines = sentences(yield* status({ task_id: "{3f2b6c1e-0000-4000-8000-000000000000}", session_id: "" }))
      assert.deepStrictEqual(
        lines.map((line) => line.split(":")[0]),
        ["task_id", "session_id"]
      )
      const [refusal] = yield* (yield* TasksFake).refusals
      assert.strictEqual(refusal?.sentences("en"), lines.join("\n"))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a store that cannot be written is a tool error that says what mends it", () =>
    Effect.gen(function* () {
      const fake = yield* TasksFake
      yield* fake.breakStore(Option.some(new StoreFailed({ reason: "full", cause: new Error("SQLITE_FULL") })))
      assert.match(sentences(yield* run({ request: "hi" })).join("\n"), /^The disk is full.* Free some space/)
      const id = "00000000-0000-0000-0000-000000000000"
      assert.match(sentences(yield* status({ task_id: id })).join("\n"), /^The disk is full/)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("an unknown tool is no tool error", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(agentTools.call("nope", {}, owner))
      assert.strictEqual(error._tag, "ToolNotFound")
    }).pipe(Effect.provide(layer()))
  )
})

/** Of the compact JSON of what `tools/list` returns. */
const definitionsLength = 1501
const definitionsHash = "7633b9e13dc64e289aec099c69eb29890581ae2b35449f6b2d325d90f414aeb5"
