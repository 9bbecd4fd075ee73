import { Clock, Context, Effect, Layer, Option, Schedule } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import type { Message } from "../domain/Message.ts"
import type { SessionId } from "../domain/Session.ts"
import type { Locale } from "../domain/Settings.ts"
import type { Task, TaskId, TaskStatus, TokenUsage } from "../domain/Task.ts"
import { localeOf } from "./SettingsRow.ts"
import { Sql } from "./Sql.ts"
import type { StoreFailed } from "./StoreFailed.ts"
import { taskOf } from "./TaskRow.ts"
import { stateEvent, type TaskClosing, taskWrites } from "./TaskWrites.ts"

/** What a running task writes down in one commit. Absent parts stay as they are; `usage` is added. */
export interface TaskProgress {
  readonly status?: "planning" | "running"
  readonly currentTask?: string
  readonly steps?: { readonly completed: number; readonly planned: number }
  readonly usage?: TokenUsage
  readonly criticalPathTokens?: number
  /** Appended to the session's history, in this order. */
  readonly messages?: ReadonlyArray<Message>
  readonly events?: ReadonlyArray<AuditEvent>
}

/** Which tasks to list: `owner` null lists everybody's. */
export interface TaskQuery {
  readonly status?: TaskStatus
  readonly sessionId?: SessionId
  readonly owner: string | null
  readonly limit: number
}

/** Tasks, for everybody and for the work itself. What only the runner does with them is in `RunnerRepo`. */
export class TaskRepo extends Context.Tag("sagyo/store/TaskRepo")<
  TaskRepo,
  {
    readonly get: (id: TaskId) => Effect.Effect<Option.Option<Task>, StoreFailed>
    /** Newest first. */
    readonly list: (query: TaskQuery) => Effect.Effect<ReadonlyArray<Task>, StoreFailed>
    /**
     * One commit; on disk when it returns. Everybody who watches the task sees it. While another program keeps the
     * file locked this waits for a minute, unless it may not be interrupted.
     */
    readonly record: (id: TaskId, progress: TaskProgress) => Effect.Effect<void, StoreFailed>
    /** The task's own messages in order. */
    readonly messages: (id: TaskId) => Effect.Effect<ReadonlyArray<Message>, StoreFailed>
    /**
     * Ends a queued task at once, as `ending` says of what an earlier run of it has left, and asks the runner to end a
     * live one; one that is over stays as it is.
     */
    readonly requestCancel: (
      id: TaskId,
      caller: string,
      ending: (history: ReadonlyArray<Message>, locale: Locale) => TaskClosing
    ) => Effect.Effect<void, StoreFailed>
    readonly cancelRequested: (id: TaskId) => Effect.Effect<boolean, StoreFailed>
  }
>() {
  static readonly layer = Layer.effect(
    TaskRepo,
    Effect.gen(function* () {
      const { sql, look, read } = yield* Sql
      const audit = yield* AuditLog
      const { find, messages, append, end, committed } = yield* taskWrites

      const record = (id: TaskId, progress: TaskProgress) =>
        Effect.gen(function* () {
          const before = Option.getOrThrow(yield* find(id))
          const now = Math.max(yield* Clock.currentTimeMillis, before.updatedAt)
          const { status = before.status, currentTask = before.currentTask, usage = { input: 0, output: 0 } } = progress
          yield* sql`UPDATE tasks SET ${sql.update({
            status,
            current_task: currentTask,
            completed_steps: progress.steps?.completed ?? before.completedSteps,
            planned_steps: progress.steps?.planned ?? before.plannedSteps,
            input_tokens: before.usage.input + usage.input,
            output_tokens: before.usage.output + usage.output,
            critical_path_tokens: progress.criticalPathTokens ?? before.criticalPathTokens,
            updated_at: now
          })} WHERE id = ${id} AND status IN ('planning', 'running')`
          yield* append(before, progress.messages ?? [], now)
          yield* audit.append([
            ...(status === before.status ? [] : [stateEvent(before, status)]),
            ...(progress.events ?? [])
          ])
        })

      const requestCancel = (id: TaskId, caller: string, ending: Parameters<TaskRepo["Type"]["requestCancel"]>[2]) =>
        Effect.gen(function* () {
          const task = Option.getOrUndefined(yield* find(id))
          if (task === undefined || task.endedAt !== null || task.cancelRequested) return
          yield* audit.append([{ event: "cancel_requested", task: id, session: task.sessionId, caller }])
          yield* sql`UPDATE tasks SET cancel_requested = 1 WHERE id = ${id}`
          if (task.status !== "queued") return
          const [row] = yield* sql<{
            body: string
          }>`SELECT s.body FROM tasks t JOIN settings s ON s.hash = t.settings WHERE t.id = ${id}`
          yield* end(task, ending(yield* messages(id), localeOf(row!.body)))
        })

      return {
        // no span of its own: measured, making one costs more than the read
        get: (id) =>
          Effect.map(read(look("SELECT * FROM tasks WHERE id = ?", id)), ([row]) =>
            Option.map(Option.fromNullable(row), taskOf)
          ),
        list: Effect.fn("TaskRepo.list")((query: TaskQuery) =>
          read(
            sql`SELECT * FROM tasks WHERE ${sql.and([
              query.status === undefined ? sql`1` : sql`status = ${query.status}`,
              query.sessionId === undefined ? sql`1` : sql`session_id = ${query.sessionId}`,
              query.owner === null ? sql`1` : sql`owner = ${query.owner}`
            ])} ORDER BY seq DESC LIMIT ${query.limit}`
          ).pipe(Effect.map((rows) => rows.map(taskOf)))
        ),
        record: Effect.fn("TaskRepo.record")((id: TaskId, progress: TaskProgress) =>
          patiently(committed(record(id, progress)))
        ),
        messages: Effect.fn("TaskRepo.messages")((id: TaskId) => read(messages(id))),
        requestCancel: Effect.fn("TaskRepo.requestCancel")((id, caller, ending) =>
          committed(requestCancel(id, caller, ending))
        ),
        cancelRequested: Effect.fn("TaskRepo.cancelRequested")((id: TaskId) =>
          read(sql`SELECT 1 FROM tasks WHERE id = ${id} AND cancel_requested = 1`).pipe(
            Effect.map((rows) => rows.length > 0)
          )
        )
      }
    })
  )
}

/** Long work is not given up for a lock that passes; a clean-up, which nothing can interrupt, does not wait for it. */
const patiently = <A>(write: Effect.Effect<A, StoreFailed>) =>
  Effect.checkInterruptible((interruptible) =>
    interruptible
      ? Effect.retry(write, {
          while: ({ reason }) => reason === "busy",
          schedule: Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurUpTo("1 minute"))
        })
      : write
  )
