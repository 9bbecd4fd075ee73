import { Cause, Context, Effect, Exit, Layer, Option, Schedule, Stream } from "effect"
import { AgentLoop } from "../agent/AgentLoop.ts"
import { AuditFile } from "../audit/AuditFile.ts"
import { makeFallbackWorkspace } from "../config/FallbackWorkspace.ts"
import type { RunnableTask } from "../domain/Task.ts"
import { RunnerLock } from "../store/RunnerLock.ts"
import { StoreChanges } from "../store/StoreChanges.ts"
import { TaskRepo } from "../store/TaskRepo.ts"
import { type Closing, cancelled, failed } from "./Closing.ts"
import { logFailure, reasonOf } from "./EndReason.ts"
import { TaskRecovery } from "./TaskRecovery.ts"

/** Runs what was accepted: first in, first out, one task at a time over all processes of a data folder. */
export class TaskQueue extends Context.Tag("sagyo/task/TaskQueue")<
  TaskQueue,
  {
    /**
     * Waits for the runner's place and runs queued tasks for as long as it is not interrupted, or until `done` says
     * so between two tasks. Interrupted, it stops the running task and puts it back to its place in the queue.
     */
    readonly run: (done: Effect.Effect<boolean>) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    TaskQueue,
    Effect.gen(function* () {
      const agent = yield* AgentLoop
      const auditFile = yield* AuditFile
      const changes = yield* StoreChanges
      const lock = yield* RunnerLock
      const recovery = yield* TaskRecovery
      const repo = yield* TaskRepo
      const oneAtATime = yield* Effect.makeSemaphore(1)

      /** Succeeds once somebody, here or in another process, wants the task cancelled. */
      const cancelWish = (task: RunnableTask) =>
        changes.any.pipe(
          Stream.mapEffect(() => repo.cancelRequested(task.id).pipe(Effect.catchAll(() => Effect.succeed(false)))),
          Stream.takeUntil((wished) => wished),
          Stream.runDrain,
          Effect.as(Option.none<string>())
        )

      const conclude = (task: RunnableTask, ending: (history: Parameters<typeof failed>[0]) => Closing) =>
        Effect.gen(function* () {
          const history = yield* repo.messages(task.id)
          const status = yield* repo.finish(task.id, ending(history), cancelled(history, task.settings.locale))
          yield* Effect.logInfo("ended", { task: task.id, status })
        }).pipe(
          Effect.tapError((error) =>
            Effect.logError("an end could not be stored yet", { task: task.id, reason: error.reason })
          )
        )

      const putBack = (task: RunnableTask) =>
        Effect.flatMap(repo.cancelRequested(task.id), (wished) =>
          wished
            ? conclude(task, (history) => cancelled(history, task.settings.locale))
            : Effect.zipLeft(
                repo.requeue(task.id, "clean"),
                Effect.logInfo("put back into the queue", { task: task.id })
              )
        )

      /** A fiber of its own for the task; its end is written down before the next one is taken. */
      const runOne = (task: RunnableTask) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            yield* Effect.logInfo("started", { task: task.id, session: task.sessionId })
            const work = Effect.map(Effect.zipRight(makeFallbackWorkspace(task.settings), agent.run(task)), Option.some)
            const exit = yield* Effect.exit(restore(Effect.raceFirst(work, cancelWish(task))))
            // the end is tried until the store takes it, unless this process is asked to stop meanwhile
            const surely = <A, E>(effect: Effect.Effect<A, E>) =>
              restore(Effect.orDie(Effect.retry(effect, Schedule.spaced("1 second"))))
            yield* Exit.match(exit, {
              onSuccess: Option.match({
                onNone: () => surely(conclude(task, (history) => cancelled(history, task.settings.locale))),
                onSome: (answer) => surely(conclude(task, () => ({ status: "completed", result: answer, closing: [] })))
              }),
              onFailure: (cause) =>
                Cause.isInterruptedOnly(cause)
                  ? Effect.ignoreLogged(putBack(task))
                  : Effect.zipRight(
                      logFailure(cause),
                      surely(conclude(task, (history) => failed(history, reasonOf(cause, task.settings.locale))))
                    )
            })
          }).pipe(
            Effect.annotateLogs("task", task.id),
            Effect.withSpan("TaskQueue.task", { attributes: { task: task.id } })
          )
        )

      const takeOne = repo.take.pipe(
        Effect.tapError((error) => Effect.logError("the next task could not be taken", { reason: error.reason })),
        Effect.retry(Schedule.spaced("1 second")),
        Effect.orDie
      )
      const drain = (done: Effect.Effect<boolean>): Effect.Effect<void> =>
        Effect.flatMap(done, (isDone) =>
          isDone
            ? Effect.void
            : Effect.flatMap(
                takeOne,
                Option.match({
                  onNone: () => Effect.void,
                  onSome: (task) => Effect.zipRight(oneAtATime.withPermits(1)(runOne(task)), drain(done))
                })
              )
        )

      const run = (done: Effect.Effect<boolean>) =>
        Effect.gen(function* () {
          yield* lock.acquire.pipe(
            Effect.tapError((error) => Effect.logError("the runner's lock cannot be used", { reason: error.reason })),
            Effect.retry(Schedule.spaced("1 second")),
            Effect.orDie
          )
          yield* Effect.logInfo("this process runs the tasks now")
          yield* recovery.run
          yield* Effect.addFinalizer(() => Effect.ignoreLogged(auditFile.sync))
          yield* Effect.forkScoped(auditFile.follow)
          yield* changes.any.pipe(
            Stream.mapEffect(() => drain(done)),
            Stream.takeUntilEffect(() => done),
            Stream.runDrain
          )
        }).pipe(Effect.scoped)

      return { run: Effect.fn("TaskQueue.run")(run) }
    })
  )

  /** Runs tasks for as long as the layer lives. */
  static readonly layerRunning = Layer.scopedDiscard(
    Effect.flatMap(TaskQueue, (queue) => Effect.forkScoped(queue.run(Effect.succeed(false))))
  )
}
