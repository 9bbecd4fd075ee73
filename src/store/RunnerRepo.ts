import type { SqlError } from "@effect/sql"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import { Message } from "../domain/Message.ts"
import type { Bilingual, Locale } from "../domain/Settings.ts"
import type { RunnableTask, Task, TaskId, TaskStatus } from "../domain/Task.ts"
import { localeOf, settingsOf } from "./SettingsRow.ts"
import { Sql } from "./Sql.ts"
import { StoreChanges } from "./StoreChanges.ts"
import type { StoreFailed } from "./StoreFailed.ts"
import { taskOf } from "./TaskRow.ts"
import { stateEvent, type TaskClosing, taskWrites } from "./TaskWrites.ts"

/** A task that a runner left behind without an end. */
export interface AbandonedTask {
  readonly task: Task
  readonly locale: Locale
  readonly onRestart: "resume" | "fail"
  readonly uncleanEnds: number
}

/** What is done with tasks by who holds the runner's place, and by nobody else. */
export class RunnerRepo extends Context.Tag("sagyo/store/RunnerRepo")<
  RunnerRepo,
  {
    /** The oldest queued task, which has left the queue when this returns. */
    readonly take: Effect.Effect<Option.Option<RunnableTask>, StoreFailed>
    /**
     * Ends a live task; the first end wins. `ifCancelled` is written instead of a completion or a failure where a
     * cancel was asked for before. Gives the state that the task has then.
     */
    readonly finish: (
      id: TaskId,
      end: TaskClosing,
      ifCancelled: TaskClosing
    ) => Effect.Effect<TaskStatus | "gone", StoreFailed>
    /**
     * Puts a live task back to its old place in the queue, or ends it by `ifCancelled` where a cancel was asked for.
     * `unclean` counts an end that nobody had asked for. Gives the state that the task has then.
     */
    readonly requeue: (
      id: TaskId,
      how: "clean" | "unclean",
      ifCancelled: TaskClosing
    ) => Effect.Effect<TaskStatus | "gone", StoreFailed>
    /** Live tasks, in order: to be asked by a runner that has just taken over. */
    readonly abandoned: Effect.Effect<ReadonlyArray<AbandonedTask>, StoreFailed>
  }
>() {
  static readonly layer = Layer.effect(
    RunnerRepo,
    Effect.gen(function* () {
      const { sql, immediate, read } = yield* Sql
      const audit = yield* AuditLog
      const changes = yield* StoreChanges
      const { find, end, committed } = yield* taskWrites

      const take: Effect.Effect<Option.Option<RunnableTask>, SqlError.SqlError> = Effect.gen(function* () {
        const [row] = yield* sql<TakenRow>`
          SELECT t.*, s.body AS settings_body,
            (SELECT body FROM messages WHERE task_id = t.id ORDER BY seq LIMIT 1) AS message
          FROM tasks t JOIN settings s ON s.hash = t.settings WHERE t.status = 'queued' ORDER BY t.seq LIMIT 1`
        if (row === undefined) return Option.none()
        const settings = settingsOf(row.settings_body)
        const message = decodeMessage(row.message)
        if (Option.isNone(settings) || Option.isNone(message)) {
          const reason = unreadable[localeOf(row.settings_body)]
          yield* end(taskOf(row), { status: "failed", result: reason, closing: [] })
          yield* changes.signal
          return yield* take
        }
        const now = yield* Clock.currentTimeMillis
        const status = settings.value.agent.planning === "off" ? "running" : "planning"
        const [taken] =
          yield* sql`UPDATE tasks SET status = ${status}, started_at = coalesce(started_at, ${now}), updated_at = max(updated_at, ${now})
          WHERE seq = ${row.seq} RETURNING *`
        const task = taskOf(taken)
        yield* audit.append([stateEvent(task, status)])
        return Option.some({
          id: task.id,
          sessionId: task.sessionId,
          request: message.value.content,
          temperature: row.temperature,
          settings: settings.value,
          uncleanEnds: row.unclean_ends,
          startedAt: row.started_at ?? now
        })
      })

      const finish = (id: TaskId, wanted: TaskClosing, ifCancelled: TaskClosing) =>
        Effect.gen(function* () {
          const task = Option.getOrUndefined(yield* find(id))
          if (task === undefined) return "gone" as const
          if (task.endedAt !== null) return task.status
          const how = task.cancelRequested ? ifCancelled : wanted
          yield* end(task, how)
          return how.status
        })

      const requeue = (id: TaskId, how: "clean" | "unclean", ifCancelled: TaskClosing) =>
        Effect.gen(function* () {
          const task = Option.getOrUndefined(yield* find(id))
          if (task === undefined) return "gone" as const
          if (task.status !== "planning" && task.status !== "running") return task.status
          if (task.cancelRequested) return yield* finish(id, ifCancelled, ifCancelled)
          const now = Math.max(yield* Clock.currentTimeMillis, task.updatedAt)
          yield* sql`UPDATE tasks SET status = 'queued', current_task = '', updated_at = ${now},
            unclean_ends = unclean_ends + ${how === "unclean" ? 1 : 0} WHERE id = ${id}`
          const reason = how === "unclean" ? "the runner died" : "the runner was shut down"
          yield* audit.append([stateEvent(task, "queued", { reason })])
          return "queued" as const
        })

      return {
        // a look that finds nothing must not wake those who wait for a change: the runner is one of them
        take: immediate(take).pipe(
          Effect.tap(Option.match({ onNone: () => Effect.void, onSome: () => changes.signal })),
          Effect.withSpan("RunnerRepo.take")
        ),
        finish: Effect.fn("RunnerRepo.finish")((id, wanted, ifCancelled) => committed(finish(id, wanted, ifCancelled))),
        requeue: Effect.fn("RunnerRepo.requeue")((id, how, ifCancelled) => committed(requeue(id, how, ifCancelled))),
        abandoned: read(
          sql<TakenRow>`SELECT t.*, s.body AS settings_body FROM tasks t JOIN settings s ON s.hash = t.settings
            WHERE t.status IN ('planning', 'running') ORDER BY t.seq`
        ).pipe(
          Effect.map((rows) =>
            rows.map((row) => ({
              task: taskOf(row),
              locale: localeOf(row.settings_body),
              onRestart: Option.match(settingsOf(row.settings_body), {
                onNone: () => "resume" as const,
                onSome: ({ agent }) => agent.onRestart
              }),
              uncleanEnds: row.unclean_ends
            }))
          )
        )
      }
    })
  )
}

/** What is read beside the task itself. */
interface TakenRow {
  readonly seq: number
  readonly settings_body: string
  readonly temperature: number | null
  readonly unclean_ends: number
  readonly started_at: number | null
  readonly message: string
}

const decodeMessage = Schema.decodeUnknownOption(Schema.parseJson(Message))

const unreadable: Bilingual = {
  ja: "このタスクは別のバージョンで登録されたため、内容を読めません。もう一度依頼してください。",
  en: "This task was accepted by another version of this program, and this one cannot read it. Ask for it again."
}
