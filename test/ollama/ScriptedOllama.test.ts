import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { assertDone, error, hang, pause, say, scriptedOllama, text, toolCall } from "../support/ScriptedOllama.ts"

const sound = {
  model: "scripted",
  stream: true,
  truncate: false,
  shift: false,
  keep_alive: "10m",
  options: { num_ctx: 4096 },
  messages: [{ role: "user", content: "hi" }]
}

const post = (url: string, body: unknown, signal?: AbortSignal) =>
  Effect.promise(() =>
    fetch(`${url}/api/chat`, { method: "POST", body: JSON.stringify(body), signal: signal ?? null }).then(
      async (response) => ({ status: response.status, body: await response.text() })
    )
  )

describe("ScriptedOllama", () => {
  it.scoped("plays one entry for each chat, a function of the request among them", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([
        text(["Hel", "lo"]),
        (request) => toolCall("read_file", { path: String(request.body.messages[0]?.content) })
      ])
      const first = yield* post(server.url, sound)
      assert.deepStrictEqual(
        first.body
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).message.content),
        ["Hel", "lo", ""]
      )
      const second = yield* post(server.url, sound)
      assert.include(second.body, `"name":"read_file","arguments":{"path":"hi"}`)
      assert.isTrue(yield* Effect.promise(() => server.closed(0)))
    })
  )

  it.scoped("refuses and remembers a chat that lacks what is always sent", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* scriptedOllama([])
          const { truncate: _, options: __, ...lacking } = sound
          const answer = yield* post(server.url, { ...lacking, colour: "red" })
          assert.strictEqual(answer.status, 400)
          return server
        })
      ).pipe(Effect.exit)
      assert.isTrue(Exit.isFailure(server))
      const told = String(Exit.isFailure(server) ? server.cause : "")
      for (const part of ["truncate is not false", "options is missing", "unknown field colour"]) {
        assert.include(told, part)
      }
    })
  )

  it.scoped("answers string arguments in a replayed call as a real server does", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([], {})
      const call = { function: { name: "read_file", arguments: "{}" } }
      const messages = [{ role: "assistant", content: "", tool_calls: [call] }]
      const answer = yield* post(server.url, { ...sound, messages })
      assert.strictEqual(answer.status, 400)
      assert.include(answer.body, "json: cannot unmarshal string into Go struct field")
      server.problems.length = 0
    })
  )

  it.scoped("complains of chats beyond the script and of entries left over", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([])
      const answer = yield* post(server.url, sound)
      assert.include(answer.body, "beyond the script")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(assertDone(server))))
      server.problems.length = 0
      server.push(error(500, "x"))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(assertDone(server))))
      yield* post(server.url, sound)
    })
  )

  it.scoped("sees a client that leaves, before headers and in mid-stream", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([[hang], [say("a"), hang]])
      for (const index of [0, 1]) {
        const leave = new AbortController()
        const asking = yield* Effect.fork(post(server.url, sound, leave.signal))
        yield* Effect.promise(() => server.waiting(index))
        leave.abort()
        assert.isFalse(yield* Effect.promise(() => server.closed(index)))
        yield* Effect.exit(asking.await)
      }
    })
  )

  it.scoped("waits at a pause until its latch opens", () =>
    Effect.gen(function* () {
      let open = () => {}
      const latch = new Promise<void>((resolve) => {
        open = resolve
      })
      const server = yield* scriptedOllama([[say("a"), pause(latch), ...text("b")]])
      const asking = yield* Effect.fork(post(server.url, sound))
      yield* Effect.promise(() => server.waiting(0))
      open()
      const answer = yield* Effect.flatten(asking.await)
      assert.strictEqual(answer.body.trimEnd().split("\n").length, 3)
    })
  )

  it.scoped("refuses an unknown model, and tools or thinking where the model has none, and spends no entry", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([], { models: [{ name: "plain", capabilities: ["completion"] }] })
      const missing = yield* post(server.url, sound)
      assert.deepStrictEqual(missing, { status: 404, body: `{"error":"model 'scripted' not found"}` })
      const tools = yield* post(server.url, { ...sound, model: "plain", tools: [{}] })
      assert.strictEqual(tools.body, `{"error":"registry.ollama.ai/library/plain:latest does not support tools"}`)
      const think = yield* post(server.url, { ...sound, model: "plain", think: true })
      assert.strictEqual(think.body, `{"error":"\\"plain\\" does not support thinking"}`)
    })
  )
})
