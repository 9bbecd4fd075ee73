import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { Effect, Fiber, Layer, Option, Queue, Stream, TestClock } from "effect"
import { Sql } from "../../src/store/Sql.ts"
import { StoreChanges } from "../../src/store/StoreChanges.ts"
import { temporaryFolder } from "../support/TestSettings.ts"

/** The elements that a listener gets, and another program on the same file. */
const listening = <A, E>(body: (seen: Queue.Queue<void>, other: Database.Database) => Effect.Effect<A, E>) => {
  const path = join(temporaryFolder(), "sagyo.db")
  return Effect.gen(function* () {
    yield* (yield* Sql).sql`CREATE TABLE t (x)`
    const seen = yield* Queue.unbounded<void>()
    const changes = yield* StoreChanges
    const fiber = yield* Effect.fork(Stream.runForEach(changes.any, () => Queue.offer(seen, undefined)))
    yield* Queue.take(seen) // the first comes at once
    const other = new Database(path)
    return yield* Effect.ensuring(
      body(seen, other),
      Effect.zipRight(
        Effect.sync(() => other.close()),
        Fiber.interrupt(fiber)
      )
    )
  }).pipe(Effect.provide(StoreChanges.layer.pipe(Layer.provideMerge(Sql.layer(path)))))
}

describe("StoreChanges", () => {
  it.effect("a commit by another program is seen within a twentieth of a second, and once", () =>
    listening((seen, other) =>
      Effect.gen(function* () {
        other.exec("INSERT INTO t VALUES (1)")
        yield* TestClock.adjust("50 millis")
        yield* Queue.take(seen)
        yield* TestClock.adjust("1 second")
        assert.isTrue(Option.isNone(yield* Queue.poll(seen)))
      })
    )
  )

  it.effect("what is rolled back is no change", () =>
    listening((seen, other) =>
      Effect.gen(function* () {
        other.exec("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); ROLLBACK")
        yield* TestClock.adjust("1 second")
        assert.isTrue(Option.isNone(yield* Queue.poll(seen)))
      })
    )
  )
})
