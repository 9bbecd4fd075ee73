import { Cause, Context, Effect, Exit, Layer, Option, Schedule, Stream } from "effect"
import { AgentLoop } from "../agent/AgentLoop.ts"
import { AuditFile } from "../audit/AuditFile.ts"
import { makeFallbackWorkspace } from "../config/FallbackWorkspace.ts"
import type { Message } from "../domain/Message.ts"
import type { RunnableTask } from "../domain/Task.ts"
import { RunnerLock } from "../store/RunnerLock.ts"
import { RunnerRepo } from "../store/RunnerRepo.ts"
import { StoreChanges } from "../store/StoreChanges.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { TaskRepo } from "../store/TaskRepo.ts"
import type { TaskClosing } from "../store/TaskWrites.ts"
import { cancelled, failed } from "./Closing.ts"
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
      const repo = yield* RunnerRepo
      const tasks = yield* TaskRepo
      const oneAtATime = yield* Effect.makeSemaphore(1)

      /** Succeeds once somebody, here or in another process, wants the task cancelled. */
      const cancelWish = (task: RunnableTask) =>
        changes.any.pipe(
          Stream.mapEffect(() => Effect.retry(tasks.cancelRequested(task.id), soonAgain)),
          Stream.takeUntil((wished) => wished),
          Stream.runDrain,
          Effect.orDie,
          Effect.as(Option.none<string>())
        )

      const conclude = (task: RunnableTask, ending: (history: ReadonlyArray<Message>) => TaskClosing) =>
        Effect.gen(function* () {
          const history = yield* tasks.messages(task.id)
          const status = yield* repo.finish(task.id, ending(history), cancelled(history, task.settings.locale))
          yield* Effect.logInfo("ended", { task: task.id, status })
        }).pipe(
          Effect.tapError((error) =>
            Effect.logError("an end could not be stored yet", { task: task.id, reason: error.reason })
          )
        )

      const putBack = (task: RunnableTask) =>
        Effect.gen(function* () {
          const history = yield* tasks.messages(task.id)
          const status = yield* repo.requeue(task.id, "clean", cancelled(history, task.settings.locale))
          yield* Effect.logInfo("stopped", { task: task.id, status })
        })

      /** Takes the oldest task and works on it; its end is written down before this returns. False where none waits. */
      const runNext = Effect.uninterruptibleMask((restore) => {
        // each try is made in full; what an interruption ends is the wait between them
        const surely = <A>(effect: Effect.Effect<A, StoreFailed>): Effect.Effect<A> =>
          Effect.catchAll(effect, () => Effect.zipRight(restore(Effect.sleep("1 second")), surely(effect)))

        const runOne = (task: RunnableTask) =>
          Effect.gen(function* () {
            yield* Effect.logInfo("started", { session: task.sessionId })
            const work = Effect.map(Effect.zipRight(makeFallbackWorkspace(task.settings), agent.run(task)), Option.some)
            const exit = yield* Effect.exit(restore(Effect.raceFirst(work, cancelWish(task))))
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

        const take = Effect.tapError(repo.take, (error) =>
          Effect.logError("the next task could not be taken", { reason: error.reason })
        )
        // nothing can come between taking a task and looking after it
        return Effect.flatMap(
          surely(take),
          Option.match({
            onNone: () => Effect.succeed(false),
            onSome: (task) => Effect.as(oneAtATime.withPermits(1)(runOne(task)), true)
          })
        )
      })

      const drain = (done: Effect.Effect<boolean>) =>
        Effect.iterate(true, {
          while: (more) => more,
          body: () => Effect.if(done, { onTrue: () => Effect.succeed(false), onFalse: () => runNext })
        })

      /** For as long as this process has the runner's place. */
      const runHere = (done: Effect.Effect<boolean>) =>
        Effect.gen(function* () {
          yield* lock.acquire.pipe(
            Effect.tapError((error) => Effect.logError("the runner's lock cannot be used", { reason: error.reason })),
            Effect.retry(soonAgain),
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

      /** A defect is the end of this turn at the runner's place, not of the runner: the task it hit counts an unclean end. */
      const run = (done: Effect.Effect<boolean>) =>
        runHere(done).pipe(
          Effect.sandbox,
          Effect.tapError((cause) => Effect.logError("the runner broke off and begins again", cause)),
          Effect.retry(soonAgain),
          Effect.orDie
        )

      return { run: Effect.fn("TaskQueue.run")(run) }
    })
  )

  /** Runs tasks for as long as the layer lives. */
  static readonly layerRunning = Layer.scopedDiscard(
    Effect.flatMap(TaskQueue, (queue) => Effect.forkScoped(queue.run(Effect.succeed(false))))
  )
}

const soonAgain = Schedule.spaced("1 second")
