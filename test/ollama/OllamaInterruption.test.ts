import { createRequire } from "node:module"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, type Scope, TestClock } from "effect"
import { OllamaClient } from "../../src/ollama/OllamaClient.ts"
import type { OllamaError } from "../../src/ollama/OllamaError.ts"
import { chat } from "../support/ScriptedChat.ts"
import { error, hang, pause, type Reply, say, scriptedOllama, text } from "../support/ScriptedOllama.ts"
import { asleepFor, passWait } from "../support/ScriptedWait.ts"

/** Each test has a clock of its own: one that is shared remembers the sleeps of fibers that are gone. */
const scoped = <E>(name: string, body: Effect.Effect<void, E, OllamaClient | Scope.Scope>) =>
  it.scoped(name, () => Effect.provide(body, OllamaClient.layer))

/** The clock of undici's own timeouts, moved as its own tests move it. */
const undiciTimers: { readonly tick: (millis: number) => void } = createRequire(import.meta.url)(
  "undici/lib/util/timers.js"
)

/** The first tick only starts a timer that is new, the second ends it. */
const passDay = Effect.sync(() => {
  undiciTimers.tick(86_400_000)
  undiciTimers.tick(86_400_000)
})

const latch = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

const others: Readonly<
  Record<string, (client: OllamaClient["Type"], url: string) => Effect.Effect<unknown, OllamaError>>
> = {
  "POST /api/show": (client, url) => client.show(url, "m"),
  "GET /api/tags": (client, url) => client.tags(url),
  "GET /api/ps": (client, url) => client.ps(url),
  "GET /api/version": (client, url) => client.version(url)
}

describe("interrupting a call to Ollama", () => {
  for (const [name, reply] of Object.entries<Reply>({
    "before headers": [hang],
    "in mid-stream": [say("a"), hang],
    "between headers and the first record": [{ _tag: "Bytes", bytes: Buffer.from("\n") }, hang],
    "in the body of an error": [
      { _tag: "Head", status: 500, contentType: "application/json" },
      { _tag: "Bytes", bytes: Buffer.from(`{"err`) },
      hang
    ]
  })) {
    scoped(
      `closes its connection ${name}`,
      Effect.gen(function* () {
        const server = yield* scriptedOllama([reply])
        const asking = yield* Effect.fork(chat(server))
        yield* Effect.promise(() => server.waiting(0))
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(asking)))
        assert.isFalse(yield* Effect.promise(() => server.closed(0)))
      })
    )
  }

  scoped(
    "closes its connection while a delta is handled",
    Effect.gen(function* () {
      const told = yield* Deferred.make<void>()
      const server = yield* scriptedOllama([[say("a"), hang]])
      const asking = yield* Effect.fork(
        chat(server, {}, () => Effect.zipRight(Deferred.succeed(told, undefined), Effect.never))
      )
      yield* Deferred.await(told)
      yield* Fiber.interrupt(asking)
      assert.isFalse(yield* Effect.promise(() => server.closed(0)))
    })
  )

  scoped(
    "ends the wait between two attempts, and asks no more",
    Effect.gen(function* () {
      const server = yield* scriptedOllama([error(503, "busy")])
      const asking = yield* Effect.fork(chat(server))
      yield* asleepFor("500 millis")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(asking)))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(server.requests.length, 1)
    })
  )

  for (const [route, call] of Object.entries(others)) {
    scoped(
      `closes the connection of ${route}`,
      Effect.gen(function* () {
        const server = yield* scriptedOllama([], { plain: { [route]: [hang] } })
        const asking = yield* Effect.fork(call(yield* OllamaClient, server.url))
        const { finished } = yield* Effect.promise(() => server.exchange(0))
        yield* Fiber.interrupt(asking)
        assert.isFalse(yield* Effect.promise(() => finished))
      })
    )
  }
})

describe("a silent server", () => {
  for (const [route, call] of Object.entries(others)) {
    scoped(
      `has ten seconds for ${route}`,
      Effect.gen(function* () {
        const server = yield* scriptedOllama([], { plain: { [route]: [hang] } })
        const asking = yield* Effect.fork(Effect.flip(call(yield* OllamaClient, server.url)))
        const { finished } = yield* Effect.promise(() => server.exchange(0))
        yield* passWait("10 seconds")
        const found = yield* Fiber.join(asking)
        assert.deepInclude(found, { _tag: "OllamaUnavailable", status: null })
        assert.include(found.message, "did not answer within 10 seconds")
        assert.isFalse(yield* Effect.promise(() => finished))
      })
    )
  }

  // A30, A31
  scoped(
    "is waited for without an end by a chat, before its headers and between records",
    Effect.gen(function* () {
      const before = latch()
      const between = latch()
      const server = yield* scriptedOllama([[pause(before.opened), say("a"), pause(between.opened), ...text("b")]])
      const told = yield* Deferred.make<void>()
      const asking = yield* Effect.fork(chat(server, {}, () => Deferred.succeed(told, undefined)))
      yield* Effect.promise(() => server.waiting(0))
      yield* passDay
      before.open()
      yield* Deferred.await(told)
      yield* passDay
      between.open()
      assert.strictEqual((yield* Fiber.join(asking)).content, "ab")
    })
  )

  scoped(
    "may leave the connection open for a second after its last record",
    Effect.gen(function* () {
      const server = yield* scriptedOllama([[...text("ok"), hang]])
      const asking = yield* Effect.fork(chat(server))
      yield* passWait("1 second")
      assert.strictEqual((yield* Fiber.join(asking)).content, "ok")
      assert.isFalse(yield* Effect.promise(() => server.closed(0)))
    })
  )
})
