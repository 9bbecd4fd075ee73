import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, FiberId, Layer, Ref } from "effect"
import type { RunnableTask } from "../../src/domain/Task.ts"
import { RunnerRepo } from "../../src/store/RunnerRepo.ts"
import { StoreFailed } from "../../src/store/StoreFailed.ts"
import { TaskQueue } from "../../src/task/TaskQueue.ts"
import { testSettings } from "../support/TestSettings.ts"
import { agentThat, ask, over, processOn } from "./QueueProcess.ts"

const forever = Effect.succeed(false)

/** A process whose queue sees the store through `change`, and whose agent answers at once. */
const queueOver = (change: (runner: RunnerRepo["Type"]) => RunnerRepo["Type"]) =>
  Effect.gen(function* () {
    const seen = yield* Ref.make<ReadonlyArray<string>>([])
    const agent = agentThat((task: RunnableTask) => Effect.succeed(`did ${task.request}`), seen)
    const one = yield* processOn(testSettings(), agent)
    const context = Context.add(one.context, RunnerRepo, change(one.runner))
    const queue = yield* Effect.provide(
      TaskQueue,
      Layer.provide(Layer.fresh(TaskQueue.layer), Layer.succeedContext(context))
    )
    const rowOf = (id: string) =>
      Effect.map(one.sql`SELECT status, unclean_ends FROM tasks WHERE id = ${id}`, ([row]) => row)
    return { ...one, queue, seen, rowOf }
  })

describe("TaskQueue", () => {
  it.live("a stop that comes with the taking of a task puts it back", () =>
    Effect.gen(function* () {
      const runner = yield* Deferred.make<Fiber.Fiber<void>>()
      const stopped = Effect.flatMap(Deferred.await(runner), Fiber.interruptAsFork(FiberId.none))
      const one = yield* queueOver((store) => ({
        ...store,
        take: Effect.tap(store.take, () => Effect.zipRight(stopped, Effect.yieldNow()))
      }))
      const task = yield* one.tasks.submit(ask("a"))
      const fiber = yield* Effect.fork(one.queue.run(forever))
      yield* Deferred.succeed(runner, fiber)
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(yield* one.rowOf(task.id), { status: "queued", unclean_ends: 0 })
      yield* one.stop
    })
  )

  it.live("a stop that comes with the answer leaves the task completed", () =>
    Effect.gen(function* () {
      const runner = yield* Deferred.make<Fiber.Fiber<void>>()
      const stopped = Effect.flatMap(Deferred.await(runner), Fiber.interruptAsFork(FiberId.none))
      const one = yield* queueOver((store) => ({
        ...store,
        finish: (...end) => Effect.zipRight(Effect.zipRight(stopped, Effect.yieldNow()), store.finish(...end))
      }))
      const task = yield* one.tasks.submit(ask("a"))
      const fiber = yield* Effect.fork(one.queue.run(forever))
      yield* Deferred.succeed(runner, fiber)
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(yield* one.rowOf(task.id), { status: "completed", unclean_ends: 0 })
      yield* one.stop
    })
  )

  it.live("an end that the store does not take at first is written when it does", () =>
    Effect.gen(function* () {
      const tries = yield* Ref.make(0)
      const full = new StoreFailed({ reason: "full", cause: "" })
      const one = yield* queueOver((store) => ({
        ...store,
        finish: (...end) =>
          Effect.flatMap(
            Ref.updateAndGet(tries, (n) => n + 1),
            (n) => (n === 1 ? full : store.finish(...end))
          )
      }))
      const task = yield* one.tasks.submit(ask("a"))
      const fiber = yield* Effect.fork(one.queue.run(forever))
      assert.strictEqual((yield* over(one.tasks, task.id)).result, "did a")
      assert.strictEqual(yield* Ref.get(tries), 2)
      yield* Fiber.interrupt(fiber)
      yield* one.stop
    })
  )

  it.live("a defect of the runner costs the task an unclean end, and the queue goes on", () =>
    Effect.gen(function* () {
      const broken = yield* Ref.make(true)
      const one = yield* queueOver((store) => ({
        ...store,
        finish: (...end) =>
          Effect.flatMap(Ref.getAndSet(broken, false), (now) => (now ? Effect.die("boom") : store.finish(...end)))
      }))
      const [a, b] = [yield* one.tasks.submit(ask("a")), yield* one.tasks.submit(ask("b"))]
      const fiber = yield* Effect.fork(one.queue.run(forever))
      yield* over(one.tasks, b.id)
      assert.deepStrictEqual(yield* one.rowOf(a.id), { status: "completed", unclean_ends: 1 })
      assert.deepStrictEqual(yield* one.rowOf(b.id), { status: "completed", unclean_ends: 0 })
      assert.deepStrictEqual(yield* Ref.get(one.seen), ["a", "a", "b"])
      yield* Fiber.interrupt(fiber)
      yield* one.stop
    })
  )

  it.live("the third unclean end of a task fails it", () =>
    Effect.gen(function* () {
      const one = yield* queueOver((store) => store)
      const task = yield* one.tasks.submit(ask("a"))
      yield* one.sql`UPDATE tasks SET status = 'running', unclean_ends = 2`
      const next = yield* one.tasks.submit(ask("b"))
      const fiber = yield* Effect.fork(one.queue.run(forever))
      yield* over(one.tasks, next.id)
      const end = yield* over(one.tasks, task.id)
      assert.strictEqual(end.status, "failed")
      assert.match(end.result, /3 回/)
      assert.deepStrictEqual(yield* Ref.get(one.seen), ["b"])
      yield* Fiber.interrupt(fiber)
      yield* one.stop
    })
  )
})
