import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import { Message } from "../domain/Message.ts"
import type { SessionId } from "../domain/Session.ts"
import { TaskSettings } from "../domain/Settings.ts"
import type { RunnableTask, Task, TaskEnd, TaskId, TaskStatus, TokenUsage } from "../domain/Task.ts"
import { Sql } from "./Sql.ts"
import { StoreChanges } from "./StoreChanges.ts"
import type { StoreFailed } from "./StoreFailed.ts"
import { taskOf } from "./TaskRow.ts"

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

/** A task that a runner left behind without an end. */
export interface AbandonedTask {
  readonly task: Task
  readonly settings: TaskSettings
  readonly uncleanEnds: number
}

export class TaskRepo extends Context.Tag("sagyo/store/TaskRepo")<
  TaskRepo,
  {
    readonly get: (id: TaskId) => Effect.Effect<Option.Option<Task>, StoreFailed>
    /** Newest first. */
    readonly list: (query: TaskQuery) => Effect.Effect<ReadonlyArray<Task>, StoreFailed>
    /** The oldest queued task, which has left the queue when this returns. */
    readonly take: Effect.Effect<Option.Option<RunnableTask>, StoreFailed>
    /** One commit; on disk when it returns. Everybody who watches the task sees it. */
    readonly record: (id: TaskId, progress: TaskProgress) => Effect.Effect<void, StoreFailed>
    /** The task's own messages in order. */
    readonly messages: (id: TaskId) => Effect.Effect<ReadonlyArray<Message>, StoreFailed>
    /** Ends a queued task at once and asks the runner to end a live one; one that is over stays as it is. */
    readonly requestCancel: (id: TaskId, caller: string) => Effect.Effect<void, StoreFailed>
    readonly cancelRequested: (id: TaskId) => Effect.Effect<boolean, StoreFailed>
    /**
     * Ends a live task; the first end wins. `unlessCancelled` is written instead of a completion or a failure
     * where a cancel was asked for before. Gives the state that the task has then.
     */
    readonly finish: (
      id: TaskId,
      end: TaskEnd & { readonly closing: ReadonlyArray<Message> },
      ifCancelled: TaskEnd & { readonly closing: ReadonlyArray<Message> }
    ) => Effect.Effect<TaskStatus, StoreFailed>
    /** Puts a live task back to its old place in the queue. `unclean` counts an end that nobody had asked for. */
    readonly requeue: (id: TaskId, how: "clean" | "unclean") => Effect.Effect<void, StoreFailed>
    /** Live tasks, in order: to be asked by a runner that has just taken over. */
    readonly abandoned: Effect.Effect<ReadonlyArray<AbandonedTask>, StoreFailed>
  }
>() {
  static readonly layer = Layer.effect(
    TaskRepo,
    Effect.gen(function* () {
      const { sql, immediate, read } = yield* Sql
      const audit = yield* AuditLog
      const changes = yield* StoreChanges

      const committed = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.zipLeft(immediate(effect), changes.signal)
      const live = sql`status IN ('planning', 'running')`
      const rowOf = (id: TaskId) =>
        Effect.map(sql`SELECT * FROM tasks WHERE id = ${id}`, ([row]) => Option.map(Option.fromNullable(row), taskOf))
      const stateEvent = (task: Task, status: TaskStatus, detail?: AuditEvent["detail"]): AuditEvent => ({
        event: "state",
        task: task.id,
        session: task.sessionId,
        status,
        ...(detail !== undefined && { detail })
      })

      const appendMessages = (task: Task, messages: ReadonlyArray<Message>, now: number) =>
        Effect.forEach(
          messages,
          (message) =>
            sql`INSERT INTO messages ${sql.insert({ session_id: task.sessionId, task_id: task.id, body: encodeMessage(message), created_at: now })}`,
          { discard: true }
        )

      const end = (task: Task, status: TaskEnd["status"], result: string, closing: ReadonlyArray<Message>) =>
        Effect.gen(function* () {
          const now = Math.max(yield* Clock.currentTimeMillis, task.updatedAt)
          yield* sql`UPDATE tasks SET status = ${status}, result = ${result}, current_task = '', updated_at = ${now}, ended_at = ${now} WHERE id = ${task.id}`
          yield* appendMessages(task, closing, now)
          if (status !== "completed") {
            // images of work that did not end well are not sent again: they may be what broke it
            yield* sql`DELETE FROM message_images WHERE message_seq IN (SELECT seq FROM messages WHERE task_id = ${task.id})`
          }
          yield* audit.append([
            stateEvent(task, status, status === "completed" ? { resultLength: result.length } : { reason: result })
          ])
        })

      const requestCancel = (id: TaskId, caller: string) =>
        Effect.gen(function* () {
          const task = Option.getOrUndefined(yield* rowOf(id))
          if (task === undefined || task.endedAt !== null || task.cancelRequested) return
          yield* audit.append([{ event: "cancel_requested", task: id, session: task.sessionId, caller }])
          yield* sql`UPDATE tasks SET cancel_requested = 1 WHERE id = ${id}`
          if (task.status === "queued") yield* end(task, "cancelled", "", [])
        })

      const take = Effect.gen(function* () {
        const [row] = yield* sql<{
          id: TaskId
          settings_body: string
          temperature: number | null
          unclean_ends: number
          started_at: number | null
          message: string
        }>`
          SELECT t.id, s.body AS settings_body, t.temperature, t.unclean_ends, t.started_at,
            (SELECT body FROM messages WHERE task_id = t.id ORDER BY seq LIMIT 1) AS message
          FROM tasks t JOIN settings s ON s.hash = t.settings WHERE t.status = 'queued' ORDER BY t.seq LIMIT 1`
        if (row === undefined) return Option.none<RunnableTask>()
        const settings = decodeSettings(row.settings_body)
        const now = yield* Clock.currentTimeMillis
        const status = settings.agent.planning === "off" ? "running" : "planning"
        const [taken] =
          yield* sql`UPDATE tasks SET status = ${status}, started_at = coalesce(started_at, ${now}), updated_at = max(updated_at, ${now})
          WHERE id = ${row.id} RETURNING *`
        const task = taskOf(taken)
        yield* audit.append([stateEvent(task, status)])
        return Option.some<RunnableTask>({
          id: task.id,
          sessionId: task.sessionId,
          request: decodeMessage(row.message).content,
          temperature: row.temperature,
          settings,
          uncleanEnds: row.unclean_ends,
          startedAt: row.started_at ?? now
        })
      })

      const record = (id: TaskId, progress: TaskProgress) =>
        Effect.gen(function* () {
          const before = Option.getOrThrow(yield* rowOf(id))
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
          })} WHERE id = ${id} AND ${live}`
          yield* appendMessages(before, progress.messages ?? [], now)
          yield* audit.append([
            ...(status === before.status ? [] : [stateEvent(before, status)]),
            ...(progress.events ?? [])
          ])
        })

      const finish: TaskRepo["Type"]["finish"] = (id, wanted, ifCancelled) =>
        committed(
          Effect.gen(function* () {
            const task = Option.getOrThrow(yield* rowOf(id))
            if (task.endedAt !== null) return task.status
            const how = task.cancelRequested ? ifCancelled : wanted
            yield* end(task, how.status, how.result, how.closing)
            return how.status
          })
        )

      const requeue = (id: TaskId, how: "clean" | "unclean") =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const rows =
            yield* sql`UPDATE tasks SET status = 'queued', current_task = '', unclean_ends = unclean_ends + ${how === "unclean" ? 1 : 0},
            updated_at = max(updated_at, ${now}) WHERE id = ${id} AND ${live} RETURNING *`
          yield* audit.append(
            rows.map((row) =>
              stateEvent(taskOf(row), "queued", {
                reason: how === "unclean" ? "the runner died" : "the runner was shut down"
              })
            )
          )
        })

      return {
        get: Effect.fn("TaskRepo.get")((id: TaskId) => read(rowOf(id))),
        list: Effect.fn("TaskRepo.list")((query: TaskQuery) =>
          read(
            sql`SELECT * FROM tasks WHERE ${sql.and([
              query.status === undefined ? sql`1` : sql`status = ${query.status}`,
              query.sessionId === undefined ? sql`1` : sql`session_id = ${query.sessionId}`,
              query.owner === null ? sql`1` : sql`owner = ${query.owner}`
            ])} ORDER BY seq DESC LIMIT ${query.limit}`
          ).pipe(Effect.map((rows) => rows.map(taskOf)))
        ),
        // a look that finds nothing must not wake those who wait for a change: the runner is one of them
        take: immediate(take).pipe(
          Effect.tap(Option.match({ onNone: () => Effect.void, onSome: () => changes.signal })),
          Effect.withSpan("TaskRepo.take")
        ),
        record: Effect.fn("TaskRepo.record")((id: TaskId, progress: TaskProgress) => committed(record(id, progress))),
        messages: Effect.fn("TaskRepo.messages")((id: TaskId) =>
          read(sql<{ body: string }>`SELECT body FROM messages WHERE task_id = ${id} ORDER BY seq`).pipe(
            Effect.map((rows) => rows.map((row) => decodeMessage(row.body)))
          )
        ),
        requestCancel: Effect.fn("TaskRepo.requestCancel")((id: TaskId, caller: string) =>
          committed(requestCancel(id, caller))
        ),
        cancelRequested: Effect.fn("TaskRepo.cancelRequested")((id: TaskId) =>
          read(sql`SELECT 1 FROM tasks WHERE id = ${id} AND cancel_requested = 1`).pipe(
            Effect.map((rows) => rows.length > 0)
          )
        ),
        finish,
        requeue: Effect.fn("TaskRepo.requeue")((id: TaskId, how: "clean" | "unclean") => committed(requeue(id, how))),
        abandoned: read(
          sql`SELECT t.*, s.body AS settings_body FROM tasks t JOIN settings s ON s.hash = t.settings WHERE ${live} ORDER BY t.seq`
        ).pipe(
          Effect.map((rows) =>
            rows.map((row) => ({
              task: taskOf(row),
              settings: decodeSettings(row.settings_body),
              uncleanEnds: Number(row.unclean_ends)
            }))
          )
        )
      }
    })
  )
}

const encodeMessage = Schema.encodeSync(Schema.parseJson(Message))
const decodeMessage = Schema.decodeUnknownSync(Schema.parseJson(Message))
const decodeSettings = Schema.decodeUnknownSync(Schema.parseJson(TaskSettings))
