import { assert, describe, it } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Fiber, Option, Ref, Stream } from "effect"
import { AgentFailed } from "../../src/agent/AgentLoop.ts"
import { AssistantMessage, ToolMessage } from "../../src/domain/Message.ts"
import type { RunnableTask } from "../../src/domain/Task.ts"
import { ToolCall } from "../../src/domain/ToolCall.ts"
import { SessionRepo } from "../../src/store/SessionRepo.ts"
import { testSettings } from "../support/TestSettings.ts"
import { agentThat, ask, caller, over, processOn } from "./QueueProcess.ts"

describe("TaskQueue", () => {
  it.live("runs what was accepted in order, one at a time, to its end", () =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const busy = yield* Ref.make(0)
      const work = (task: RunnableTask) =>
        Effect.acquireUseRelease(
          Ref.updateAndGet(busy, (n) => n + 1),
          (n) => Effect.as(Effect.yieldNow(), `${task.request}: ${n}`),
          () => Ref.update(busy, (n) => n - 1)
        )
      const one = yield* processOn(testSettings(), agentThat(work, seen))
      const accepted = yield* Effect.forEach(["a", "b", "c"], (request) => one.tasks.submit(ask(request)))
      yield* one.run
      const ended = yield* Effect.forEach(accepted, (task) => over(one.tasks, task.id), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        ended.map((task) => [task.status, task.result]),
        [
          ["completed", "a: 1"],
          ["completed", "b: 1"],
          ["completed", "c: 1"]
        ]
      )
      assert.deepStrictEqual(yield* Ref.get(seen), ["a", "b", "c"])
      yield* one.stop
    })
  )

  it.live("a queued task that is cancelled never reaches the agent", () =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const one = yield* processOn(
        testSettings(),
        agentThat(() => Effect.succeed("done"), seen)
      )
      const [a, b] = [yield* one.tasks.submit(ask("a")), yield* one.tasks.submit(ask("b"))]
      const now = yield* one.tasks.cancel(a.id, caller)
      assert.strictEqual(Option.getOrThrow(now).status, "cancelled")
      yield* one.run
      yield* over(one.tasks, b.id)
      assert.deepStrictEqual(yield* Ref.get(seen), ["b"])
      yield* one.tasks.cancel(a.id, caller)
      assert.strictEqual((yield* over(one.tasks, a.id)).status, "cancelled")
      yield* one.stop
    })
  )

  it.live(
    "a cancel from another process ends the running task, after its clean-up, with the truth about what was done",
    () =>
      Effect.gen(function* () {
        const settings = testSettings()
        const seen = yield* Ref.make<ReadonlyArray<string>>([])
        const started = yield* Deferred.make<RunnableTask>()
        const cleaned = yield* Ref.make(false)
        const work = (task: RunnableTask) =>
          Effect.onInterrupt(Effect.zipRight(Deferred.succeed(started, task), Effect.never), () =>
            Ref.set(cleaned, true)
          )
        const [one, other] = [
          yield* processOn(settings, agentThat(work, seen)),
          yield* processOn(settings, agentThat(work, seen))
        ]
        const task = yield* other.tasks.submit(ask("a"))
        yield* one.run
        yield* Deferred.await(started)
        const call = (id: string, name: string) => new ToolCall({ id, name, arguments: {} })
        yield* one.repo.record(task.id, {
          messages: [
            new AssistantMessage({
              content: "",
              thinking: "",
              toolCalls: [call("c1", "write_file"), call("c2", "shell")]
            }),
            new ToolMessage({ callId: "c1", toolName: "write_file", outcome: "ok", content: "ok", changed: ["a.txt"] })
          ]
        })
        const answer = Option.getOrThrow(yield* other.tasks.cancel(task.id, caller))
        assert.isTrue(answer.cancelRequested)
        const ended = yield* over(other.tasks, task.id)
        assert.strictEqual(ended.status, "cancelled")
        assert.include(ended.result, "a.txt")
        assert.include(ended.result, "shell")
        assert.isTrue(yield* Ref.get(cleaned))
        const history = yield* Context.get(one.context, SessionRepo).history(task.sessionId)
        assert.deepStrictEqual(
          history.map(({ message }) => message._tag),
          ["user", "assistant", "tool", "tool", "assistant"]
        )
        yield* Effect.all([one.stop, other.stop])
      })
  )

  it.live("only one of two processes runs tasks, and the other takes over when it stops", () =>
    Effect.gen(function* () {
      const settings = testSettings()
      const [first, second] = [yield* Ref.make<ReadonlyArray<string>>([]), yield* Ref.make<ReadonlyArray<string>>([])]
      const started = yield* Deferred.make<RunnableTask>()
      const one = yield* processOn(
        settings,
        agentThat((task) => Effect.zipRight(Deferred.succeed(started, task), Effect.never), first)
      )
      const other = yield* processOn(
        settings,
        agentThat((task) => Effect.succeed(`second: ${task.request}`), second)
      )
      const [a, b] = [yield* one.tasks.submit(ask("a")), yield* other.tasks.submit(ask("b"))]
      yield* one.run
      yield* Deferred.await(started)
      yield* other.run
      yield* one.stop
      const [endA, endB] = [yield* over(other.tasks, a.id), yield* over(other.tasks, b.id)]
      assert.deepStrictEqual([endA.result, endB.result], ["second: a", "second: b"])
      assert.deepStrictEqual(yield* Ref.get(first), ["a"])
      assert.deepStrictEqual(yield* Ref.get(second), ["a", "b"])
      yield* other.stop
    })
  )

  it.live("a failed task keeps its reason, and the queue goes on", () =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const work = (task: RunnableTask) =>
        task.request === "a"
          ? new AgentFailed({ reason: "no model" })
          : task.request === "b"
            ? Effect.die("boom")
            : Effect.succeed("c done")
      const one = yield* processOn(testSettings(), agentThat(work, seen))
      const tasks = yield* Effect.forEach(["a", "b", "c"], (request) => one.tasks.submit(ask(request)))
      yield* one.run
      const [a, b, c] = yield* Effect.forEach(tasks, (task) => over(one.tasks, task.id))
      assert.deepStrictEqual([a!.status, a!.result], ["failed", "no model"])
      assert.strictEqual(b!.status, "failed")
      assert.notInclude(b!.result, "boom")
      assert.strictEqual(c!.result, "c done")
      yield* one.stop
    })
  )

  it.live("what a dead runner left is resumed at its old place, or ends cancelled where that was asked", () =>
    Effect.gen(function* () {
      const settings = testSettings()
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const dead = yield* processOn(
        settings,
        agentThat(() => Effect.never, seen)
      )
      const [a, b, c] = yield* Effect.forEach(["a", "b", "c"], (request) => dead.tasks.submit(ask(request)))
      yield* dead.runner.take
      yield* dead.runner.take
      yield* dead.tasks.cancel(b!.id, caller)
      yield* dead.stop
      const next = yield* processOn(
        settings,
        agentThat((task) => Effect.succeed(`ends: ${task.uncleanEnds}`), seen)
      )
      yield* next.run
      assert.strictEqual((yield* over(next.tasks, a!.id)).result, "ends: 1")
      assert.strictEqual((yield* over(next.tasks, b!.id)).status, "cancelled")
      assert.strictEqual((yield* over(next.tasks, c!.id)).result, "ends: 0")
      assert.deepStrictEqual(yield* Ref.get(seen), ["a", "c"])
      yield* next.stop
    })
  )

  it.live("a watcher sees the task as it is, and each change", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const one = yield* processOn(
        testSettings(),
        agentThat(() => Effect.as(Deferred.await(gate), "ok"), seen)
      )
      const task = yield* one.tasks.submit(ask("a"))
      const stream = Option.getOrThrow(yield* one.tasks.watch(task.id, caller))
      const running = yield* Deferred.make<void>()
      const watching = yield* stream.pipe(
        Stream.tap((now) => (now.status === "running" ? Deferred.succeed(running, undefined) : Effect.void)),
        Stream.map((now) => now.status),
        Stream.runCollect,
        Effect.fork
      )
      yield* one.tasks.submit(ask("b")) // what becomes of others is no change of this one
      yield* one.run
      yield* Deferred.await(running)
      yield* Deferred.succeed(gate, undefined)
      const states = Chunk.toReadonlyArray(yield* Fiber.join(watching))
      assert.deepStrictEqual(states.slice(-2), ["running", "completed"])
      assert.deepStrictEqual(states, [...new Set(states)])
      yield* one.stop
    })
  )
})
