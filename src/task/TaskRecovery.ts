import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import type { Bilingual } from "../domain/Settings.ts"
import type { StartedGroup } from "../domain/StartedGroup.ts"
import { ProcessRepo } from "../store/ProcessRepo.ts"
import { type AbandonedTask, RunnerRepo } from "../store/RunnerRepo.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { TaskRepo } from "../store/TaskRepo.ts"
import { endLeftover } from "../tools/ProcessGroup.ts"
import { cancelled, failed } from "./Closing.ts"

const MAX_UNCLEAN_ENDS = 3
const TOO_OLD = Duration.toMillis("24 hours")

/** What the next runner does about tasks that a dead one left behind. */
export class TaskRecovery extends Context.Tag("sagyo/task/TaskRecovery")<
  TaskRecovery,
  {
    /** To be run by who has just got the runner's place, before it takes a task. */
    readonly run: Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    TaskRecovery,
    Effect.gen(function* () {
      const repo = yield* RunnerRepo
      const tasks = yield* TaskRepo
      const processes = yield* ProcessRepo
      // first of all: what a dead runner has started may still be writing
      const endProcess = (group: StartedGroup) => Effect.zipRight(endLeftover(group), processes.forget(group))
      const endProcesses = Effect.flatMap(processes.all, (groups) =>
        Effect.forEach(groups, endProcess, { discard: true })
      )
      const recover = (left: AbandonedTask) =>
        Effect.gen(function* () {
          const { id } = left.task
          const history = yield* tasks.messages(id)
          const byCancel = cancelled(history, left.locale)
          const why = whyNotResumed(left, yield* Clock.currentTimeMillis)
          const status = yield* why === undefined
            ? repo.requeue(id, "unclean", byCancel)
            : repo.finish(id, failed(history, why[left.locale]), byCancel)
          yield* Effect.logWarning("a task was left by a runner that died", {
            task: id,
            ends: left.uncleanEnds + 1,
            status
          })
        })
      return {
        run: endProcesses.pipe(
          Effect.zipRight(Effect.flatMap(repo.abandoned, Effect.forEach(recover, { discard: true }))),
          Effect.tapError((error: StoreFailed) =>
            Effect.logError("recovery could not be stored yet", { reason: error.reason })
          ),
          Effect.retry(Schedule.spaced("1 second")),
          Effect.orDie,
          Effect.withSpan("TaskRecovery.run")
        )
      }
    })
  )
}

const whyNotResumed = (left: AbandonedTask, now: number): Bilingual | undefined => {
  if (left.onRestart === "fail") return texts.configured
  if (left.uncleanEnds + 1 >= MAX_UNCLEAN_ENDS) return texts.tooOften
  return now - left.task.updatedAt > TOO_OLD ? texts.tooOld : undefined
}

const texts = {
  configured: {
    ja: "サーバーが途中で止まりました。agent.on_restart が fail なので再開しません。もう一度依頼してください。",
    en: "The server stopped in the middle. It is not resumed, since agent.on_restart is fail. Ask for it again."
  },
  tooOften: {
    ja: `このタスクの実行中にサーバーが ${MAX_UNCLEAN_ENDS} 回異常終了したため、再開しません。ログを確かめてください。`,
    en: `The server died ${MAX_UNCLEAN_ENDS} times while it ran this task, so it is not resumed. See the log.`
  },
  tooOld: {
    ja: "サーバーが止まってから 24 時間以上たっているため、再開しません。もう一度依頼してください。",
    en: "The server stopped more than 24 hours ago, so the task is not resumed. Ask for it again."
  }
} satisfies Record<string, Bilingual>
