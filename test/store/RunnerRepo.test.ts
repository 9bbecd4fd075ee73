import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Caller } from "../../src/domain/Caller.ts"
import { AssistantMessage, ToolMessage } from "../../src/domain/Message.ts"
import { ToolCall } from "../../src/domain/ToolCall.ts"
import { RunnerRepo } from "../../src/store/RunnerRepo.ts"
import { Sql } from "../../src/store/Sql.ts"
import { TaskIntake } from "../../src/store/TaskIntake.ts"
import { TaskRepo } from "../../src/store/TaskRepo.ts"
import type { TaskClosing } from "../../src/store/TaskWrites.ts"
import { cancelled } from "../../src/task/Closing.ts"
import { testSettings } from "../support/TestSettings.ts"
import { testStore } from "../support/TestStore.ts"

const caller: Caller = { token: null, via: "cli" }
const completed: TaskClosing = { status: "completed", result: "done", closing: [] }
const byCancel: TaskClosing = { status: "cancelled", result: "half", closing: [] }

const accept = (request: string) =>
  Effect.gen(function* () {
    const { task } = testSettings()
    const intake = yield* TaskIntake
    return yield* intake.accept({
      request,
      sessionId: null,
      temperature: null,
      images: [],
      settings: { ...task, locale: "en" },
      caller,
      maxQueued: 10
    })
  })
const stateOf = (id: Parameters<TaskRepo["Type"]["get"]>[0]) =>
  Effect.flatMap(TaskRepo, (repo) => Effect.map(repo.get(id), Option.getOrThrow))
const inStore = <A, E>(body: Effect.Effect<A, E, TaskIntake | TaskRepo | RunnerRepo | Sql>) =>
  Effect.provide(body, testStore(testSettings()))

describe("RunnerRepo", () => {
  it.effect("a task that is put back keeps its place, and one whose cancel was asked for is cancelled instead", () =>
    inStore(
      Effect.gen(function* () {
        const [runner, repo] = yield* Effect.all([RunnerRepo, TaskRepo])
        const [a, b] = [yield* accept("a"), yield* accept("b")]
        yield* runner.take
        assert.strictEqual(yield* runner.requeue(a.id, "clean", byCancel), "queued")
        assert.strictEqual(Option.getOrThrow(yield* runner.take).id, a.id)
        yield* repo.requestCancel(a.id, "me", cancelled)
        assert.strictEqual(yield* runner.requeue(a.id, "unclean", byCancel), "cancelled")
        assert.strictEqual((yield* stateOf(a.id)).result, "half")
        assert.strictEqual(Option.getOrThrow(yield* runner.take).id, b.id)
      })
    )
  )

  it.effect("the first end wins, and a cancel that was asked for before it does", () =>
    inStore(
      Effect.gen(function* () {
        const [runner, repo] = yield* Effect.all([RunnerRepo, TaskRepo])
        const [a, b] = [yield* accept("a"), yield* accept("b")]
        yield* runner.take
        yield* repo.requestCancel(a.id, "me", cancelled)
        assert.strictEqual(yield* runner.finish(a.id, completed, byCancel), "cancelled")
        assert.strictEqual(yield* runner.finish(a.id, completed, completed), "cancelled")
        yield* runner.take
        assert.strictEqual(yield* runner.finish(b.id, completed, byCancel), "completed")
        yield* repo.requestCancel(b.id, "me", cancelled)
        const end = yield* stateOf(b.id)
        assert.deepStrictEqual([end.status, end.cancelRequested], ["completed", false])
      })
    )
  )

  it.effect("a task that was put back and is then cancelled says what it had done", () =>
    inStore(
      Effect.gen(function* () {
        const [runner, repo] = yield* Effect.all([RunnerRepo, TaskRepo])
        const a = yield* accept("a")
        yield* runner.take
        const toolCalls = ["write_file", "shell"].map(
          (name, at) => new ToolCall({ id: `1.${at}`, name, arguments: {} })
        )
        yield* repo.record(a.id, {
          messages: [
            new AssistantMessage({ content: "", thinking: "", toolCalls }),
            new ToolMessage({ callId: "1.0", toolName: "write_file", outcome: "ok", content: "", changed: ["a.txt"] })
          ]
        })
        yield* runner.requeue(a.id, "clean", byCancel)
        yield* repo.requestCancel(a.id, "me", cancelled)
        const end = yield* stateOf(a.id)
        assert.strictEqual(end.status, "cancelled")
        assert.match(end.result, /a\.txt/)
        assert.match(end.result, /outcome unknown\): shell/)
        const history = yield* repo.messages(a.id)
        assert.deepStrictEqual(
          history.map(({ _tag }) => _tag),
          ["user", "assistant", "tool", "tool", "assistant"]
        )
      })
    )
  )

  it.effect("a task that another version wrote fails with that reason, and the next one is taken", () =>
    inStore(
      Effect.gen(function* () {
        const [runner, { sql }] = yield* Effect.all([RunnerRepo, Sql])
        const a = yield* accept("a")
        yield* sql`UPDATE settings SET body = '{"locale":"en","of":"tomorrow"}'`
        const b = yield* accept("b")
        assert.strictEqual(Option.getOrThrow(yield* runner.take).id, b.id)
        const end = yield* stateOf(a.id)
        assert.strictEqual(end.status, "failed")
        assert.match(end.result, /another version/)
      })
    )
  )
})
