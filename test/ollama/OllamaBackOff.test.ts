import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Ref } from "effect"
import { type ChatDelta, OllamaClient } from "../../src/ollama/OllamaClient.ts"
import { chat } from "../support/ScriptedChat.ts"
import {
  bytes,
  cut,
  error,
  html,
  type Reply,
  records,
  reset,
  say,
  scriptedOllama,
  text
} from "../support/ScriptedOllama.ts"
import { asleepFor, passWait } from "../support/ScriptedWait.ts"

const WAITS = ["500 millis", "1 second", "2 seconds", "4 seconds", "8 seconds", "8 seconds", "6500 millis"] as const
const BUSY = "server busy, please try again.  maximum pending requests exceeded"
const STOPPED =
  "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details"

const provided = <A, E>(effect: Effect.Effect<A, E, OllamaClient>) => Effect.provide(effect, OllamaClient.layer)

/** The error of a chat whose every attempt gets `reply`, after all waits. */
const lastError = (reply: Reply, request = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* scriptedOllama([], { otherwise: reply })
      const asking = yield* Effect.fork(Effect.flip(chat(server, request)))
      for (const wait of WAITS) yield* passWait(wait)
      const found = yield* Fiber.join(asking)
      assert.strictEqual(server.requests.length, WAITS.length + 1)
      return found
    })
  ).pipe(provided)

describe("a chat that may pass", () => {
  // A27, A28, A12, A16
  for (const [name, reply] of Object.entries<Reply>({
    "a busy server": error(503, BUSY),
    "too many requests": error(429, "slow down"),
    "a proxy whose server is away": html(502, "<html><h1>502 Bad Gateway</h1></html>"),
    "a runner that stopped": error(500, STOPPED),
    "an error in mid-stream": [
      say("Par"),
      say("tial"),
      ...records({ error: "an error was encountered while running the model" })
    ],
    "a stream without an end": [say("The answer is 4")],
    "a stream that is cut": [say("The answer is 4"), cut],
    "a stream that is reset": [say("The answer is 4"), reset],
    "a connection that is closed before headers": [cut],
    "a connection that is reset before headers": [reset],
    "a stream that holds no records": bytes("noise\n"),
    "a stream that ends within a record": bytes(`{"message":{"content":"The ans`),
    "a record of more than 64 MiB": bytes(Buffer.alloc(65 << 20, "x")),
    "an empty stream": []
  })) {
    it.effect(`is asked again after ${name}`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* scriptedOllama([reply, text("42")])
          const asking = yield* Effect.fork(chat(server))
          yield* passWait("500 millis")
          assert.strictEqual((yield* Fiber.join(asking)).content, "42")
        })
      ).pipe(provided)
    )
  }

  // A27
  it.effect("is given up 30 seconds after its first failure, with the server's words", () =>
    Effect.gen(function* () {
      const found = yield* lastError(error(503, BUSY))
      assert.deepInclude(found, { _tag: "OllamaUnavailable", status: 503 })
      assert.include(found.message, "maximum pending requests exceeded")
      assert.strictEqual(yield* Clock.currentTimeMillis, 30_000)
    })
  )

  // A28
  it.effect("says that the request carried images", () =>
    Effect.gen(function* () {
      const found = yield* lastError(error(500, STOPPED), {
        messages: [{ role: "user", content: "look", images: ["AAAA", "AAAA"] }]
      })
      assert.include(found.message, "model runner has unexpectedly stopped")
      assert.include(found.message, "the request carried 2 images")
    })
  )

  // A12
  it.effect("ends with the words that came in mid-stream", () =>
    Effect.gen(function* () {
      const found = yield* lastError([say("Par"), ...records({ error: { message: "boom" } })])
      assert.deepInclude(found, { _tag: "OllamaUnavailable", status: null, message: "boom" })
    })
  )

  // A13, A16
  it.effect("ends with the raw record that nobody knows, bounded", () =>
    Effect.gen(function* () {
      const found = yield* lastError(
        records({ "error parsing tool call": `invalid character 'c' ${"x".repeat(9000)}` })
      )
      assert.strictEqual(found._tag, "OllamaStreamBroken")
      assert.include(found.message, "the stream ended before its last record")
      assert.include(found.message, `{"error parsing tool call":"invalid character 'c'`)
      assert.isBelow(found.message.length, 2200)
    })
  )

  it.effect("begins its answer anew: a delta tells to which attempt it belongs", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const said = yield* Ref.make<ReadonlyArray<ChatDelta>>([])
        const server = yield* scriptedOllama([[say("Hel"), cut], text("Hello")])
        const asking = yield* Effect.fork(chat(server, {}, (delta) => Ref.update(said, (all) => [...all, delta])))
        yield* passWait("500 millis")
        yield* Fiber.join(asking)
        assert.deepStrictEqual(yield* Ref.get(said), [
          { content: "Hel", thinking: "", attempt: 1 },
          { content: "Hello", thinking: "", attempt: 2 }
        ])
      })
    ).pipe(provided)
  )

  it.effect("counts the tokens that were reported for attempts that broke off", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const counted: Reply = records({ message: { content: "x" }, prompt_eval_count: 7, eval_count: 2 })
        const server = yield* scriptedOllama([counted, counted, text("42")])
        const asking = yield* Effect.fork(chat(server))
        yield* passWait("500 millis")
        yield* passWait("1 second")
        const reply = yield* Fiber.join(asking)
        assert.deepInclude(reply, { promptTokens: 20, outputTokens: 5, retriedUsage: { input: 14, output: 4 } })
        const last = yield* lastError(counted)
        assert.deepInclude(last, { _tag: "OllamaStreamBroken", usage: { input: 56, output: 16 } })
      })
    ).pipe(provided)
  )

  it.effect("waits for a server that went away after it had answered", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* scriptedOllama([error(503, BUSY)])
        const asking = yield* Effect.fork(Effect.flip(chat(server)))
        yield* asleepFor("500 millis")
        yield* Effect.promise(() => server.stop())
        for (const wait of WAITS) yield* passWait(wait)
        assert.strictEqual((yield* Fiber.join(asking))._tag, "OllamaUnreachable")
      })
    ).pipe(provided)
  )
})
