import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { Effect, Fiber, Option, TestClock } from "effect"
import { RunnerRepo } from "../../src/store/RunnerRepo.ts"
import { TaskIntake } from "../../src/store/TaskIntake.ts"
import { TaskRepo } from "../../src/store/TaskRepo.ts"
import { testSettings } from "../support/TestSettings.ts"
import { testStore } from "../support/TestStore.ts"

/** A running task, and another program that has just locked the file. */
const lockedOut = Effect.gen(function* () {
  const settings = testSettings()
  const body = <A, E>(
    use: (
      repo: TaskRepo["Type"],
      id: Parameters<TaskRepo["Type"]["get"]>[0],
      other: Database.Database
    ) => Effect.Effect<A, E>
  ) =>
    Effect.gen(function* () {
      yield* (yield* TaskIntake).accept({
        request: "a",
        sessionId: null,
        temperature: null,
        images: [],
        settings: settings.task,
        caller: { token: null, via: "cli" },
        maxQueued: 10
      })
      const { id } = Option.getOrThrow(yield* (yield* RunnerRepo).take)
      const other = new Database(join(settings.dataDir, "sagyo.db"))
      other.exec("BEGIN IMMEDIATE")
      return yield* Effect.ensuring(
        use(yield* TaskRepo, id, other),
        Effect.sync(() => other.close())
      )
    }).pipe(Effect.provide(testStore(settings)))
  return body
})

describe("TaskRepo", () => {
  it.effect("progress waits for a lock that passes", () =>
    Effect.flatMap(lockedOut, (body) =>
      body((repo, id, other) =>
        Effect.gen(function* () {
          const recording = yield* Effect.fork(repo.record(id, { currentTask: "ollama chat" }))
          yield* TestClock.adjust("5 seconds")
          assert.isTrue(Option.isNone(yield* Fiber.poll(recording)))
          other.exec("COMMIT")
          yield* TestClock.adjust("1 second")
          yield* Fiber.join(recording)
          assert.strictEqual(Option.getOrThrow(yield* repo.get(id)).currentTask, "ollama chat")
        })
      )
    )
  )

  it.effect("what is written in a clean-up does not hold it up for longer than any write", () =>
    Effect.flatMap(lockedOut, (body) =>
      body((repo, id) =>
        Effect.gen(function* () {
          const recording = yield* Effect.fork(Effect.uninterruptible(repo.record(id, { currentTask: "shell" })))
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual((yield* Effect.flip(Fiber.join(recording))).reason, "busy")
        })
      )
    )
  )
})
