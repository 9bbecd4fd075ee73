import type { SqlError } from "@effect/sql"
import { Clock, Effect, Option, Schema } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import { Message } from "../domain/Message.ts"
import type { Task, TaskEnd, TaskId, TaskStatus } from "../domain/Task.ts"
import { Sql } from "./Sql.ts"
import { StoreChanges } from "./StoreChanges.ts"
import { taskOf } from "./TaskRow.ts"

/** How a task ends, and what closes its part of the conversation. */
export interface TaskClosing extends TaskEnd {
  readonly closing: ReadonlyArray<Message>
}

/** The steps that writes about tasks are put together from; each is part of its caller's transaction. */
export const taskWrites = Effect.gen(function* () {
  const { sql, execute, immediate } = yield* Sql
  const audit = yield* AuditLog
  const changes = yield* StoreChanges

  const find = (id: TaskId): Effect.Effect<Option.Option<Task>, SqlError.SqlError> =>
    Effect.map(execute("SELECT * FROM tasks WHERE id = ?", id), ([row]) => Option.map(Option.fromNullable(row), taskOf))

  /** A message that another version wrote, and that this one cannot read, is left out. */
  const messages = (id: TaskId): Effect.Effect<ReadonlyArray<Message>, SqlError.SqlError> =>
    Effect.map(sql<{ body: string }>`SELECT body FROM messages WHERE task_id = ${id} ORDER BY seq`, (rows) =>
      rows.flatMap((row) => Option.toArray(decodeMessage(row.body)))
    )

  const append = (task: Task, messages: ReadonlyArray<Message>, now: number) =>
    Effect.forEach(
      messages,
      (message) =>
        sql`INSERT INTO messages ${sql.insert({ session_id: task.sessionId, task_id: task.id, body: encodeMessage(message), created_at: now })}`,
      { discard: true }
    )

  const end = (task: Task, { status, result, closing }: TaskClosing) =>
    Effect.gen(function* () {
      const now = Math.max(yield* Clock.currentTimeMillis, task.updatedAt)
      yield* sql`UPDATE tasks SET status = ${status}, result = ${result}, current_task = '', updated_at = ${now}, ended_at = ${now} WHERE id = ${task.id}`
      yield* append(task, closing, now)
      if (status !== "completed") {
        // images of work that did not end well are not sent again: they may be what broke it
        yield* sql`DELETE FROM message_images WHERE message_seq IN (SELECT seq FROM messages WHERE task_id = ${task.id})`
      }
      yield* audit.append([
        stateEvent(task, status, status === "completed" ? { resultLength: result.length } : { reason: result })
      ])
    })

  /** One commit, and then everybody who waits for a change is told. */
  const committed = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.zipLeft(immediate(effect), changes.signal)

  return { find, messages, append, end, committed }
})

export const stateEvent = (task: Task, status: TaskStatus, detail?: AuditEvent["detail"]): AuditEvent => ({
  event: "state",
  task: task.id,
  session: task.sessionId,
  status,
  ...(detail !== undefined && { detail })
})

const encodeMessage = Schema.encodeSync(Schema.parseJson(Message))
const decodeMessage = Schema.decodeUnknownOption(Schema.parseJson(Message))
