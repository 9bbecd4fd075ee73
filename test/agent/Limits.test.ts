import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either, Fiber, TestClock } from "effect"
import { Limits, withinDuration } from "../../src/agent/Limits.ts"
import { ToolCall } from "../../src/domain/ToolCall.ts"
import { asleepFor } from "../support/ScriptedWait.ts"

const settings = { planning: "off", maxTurns: 3, maxDuration: 1, maxTokens: 100, onRestart: "resume" } as const

const limits = (used = { turns: 0, tokens: 0 }) => new Limits(settings, used)

const call = (args: Readonly<Record<string, unknown>>) => [new ToolCall({ id: "1", name: "shell", arguments: args })]

describe("Limits", () => {
  it("begins no turn beyond the last one that is allowed", () => {
    const counted = limits({ turns: 1, tokens: 0 })
    assert.deepStrictEqual([counted.beginTurn(), counted.beginTurn()], [null, null])
    assert.include(counted.beginTurn()?.en, "3 turns")
    assert.strictEqual(counted.turns, 3)
  })

  it("begins no turn once the tokens are used up", () => {
    const counted = limits({ turns: 0, tokens: 90 })
    assert.isNull(counted.beginTurn())
    counted.spend(10)
    assert.include(counted.beginTurn()?.ja, "agent.max_tokens")
  })

  it("sees the same calls whatever the order of their arguments", () => {
    const counted = limits()
    assert.strictEqual(counted.seeCalls(call({ a: 1, b: { c: 2, d: 3 } })), "new")
    assert.strictEqual(counted.seeCalls(call({ b: { d: 3, c: 2 }, a: 1 })), "again")
    assert.strictEqual(counted.seeCalls(call({ a: 1, b: { c: 2, d: 3 } })), "stuck")
  })

  it("sees other calls in between as work", () => {
    const counted = limits()
    for (const n of [1, 1, 2, 1, 1, 2]) assert.notStrictEqual(counted.seeCalls(call({ n })), "stuck")
    assert.strictEqual(counted.seeCalls([...call({ n: 2 }), ...call({ n: 2 })]), "new")
  })

  it("lets the model try again once for each kind of useless reply, and anew after progress", () => {
    const counted = limits()
    assert.deepStrictEqual(
      [counted.mayRetry("empty"), counted.mayRetry("cut"), counted.mayRetry("empty")],
      [true, true, false]
    )
    counted.seeCalls(call({}))
    assert.isTrue(counted.mayRetry("empty"))
  })
})

describe("withinDuration", () => {
  const late = () => "too late"

  it.effect("gives what came in time", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(withinDuration(Effect.delay(Effect.succeed(4), 2999), 3000, late))
      yield* TestClock.adjust(2999)
      assert.strictEqual(yield* Fiber.join(fiber), 4)
    })
  )

  it.effect("fails once the time is up, after the work has cleaned up", () =>
    Effect.gen(function* () {
      let clean = false
      const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (clean = true)))
      const fiber = yield* Effect.fork(Effect.either(withinDuration(work, 90_000, late)))
      yield* TestClock.adjust(89_999)
      assert.isFalse(clean)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), Either.left("too late"))
      assert.isTrue(clean)
    })
  )

  it.effect("does not count the time in which the machine was suspended", () =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      let suspended = 0n
      const after = (nanos: bigint) => nanos + suspended
      const leaping: Clock.Clock = {
        [Clock.ClockTypeId]: Clock.ClockTypeId,
        sleep: (duration) => clock.sleep(duration),
        currentTimeMillis: clock.currentTimeMillis,
        currentTimeNanos: Effect.map(clock.currentTimeNanos, after),
        unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis(),
        unsafeCurrentTimeNanos: () => after(clock.unsafeCurrentTimeNanos())
      }
      const work = withinDuration(Effect.never, 10_000, late)
      const fiber = yield* Effect.fork(Effect.withClock(Effect.either(work), leaping))
      yield* asleepFor(1000)
      suspended = 8n * 3600n * 1_000_000_000n
      yield* TestClock.adjust(8000)
      assert.strictEqual((yield* Fiber.poll(fiber))._tag, "None")
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(yield* Fiber.join(fiber), Either.left("too late"))
    })
  )
})
