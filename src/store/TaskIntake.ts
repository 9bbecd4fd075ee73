import { createHash, randomUUID } from "node:crypto"
import { Clock, Context, Data, Effect, Layer, Schema } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import { type Caller, maySee, nameOf } from "../domain/Caller.ts"
import type { ValidImage } from "../domain/Image.ts"
import { Message, UserMessage } from "../domain/Message.ts"
import { SessionId } from "../domain/Session.ts"
import { TaskSettings } from "../domain/Settings.ts"
import { type Task, TaskId } from "../domain/Task.ts"
import { makeGroupCommit } from "./GroupCommit.ts"
import { Sql } from "./Sql.ts"
import { StoreChanges } from "./StoreChanges.ts"
import type { StoreFailed } from "./StoreFailed.ts"
import { taskOf } from "./TaskRow.ts"

/** A request that has passed every rule which can be checked without the store. */
export interface NewTask {
  readonly request: string
  readonly sessionId: SessionId | null
  readonly temperature: number | null
  readonly images: ReadonlyArray<ValidImage>
  readonly settings: TaskSettings
  readonly caller: Caller
  readonly maxQueued: number
}

/** No session of this id, or one that the caller may not see. */
export class SessionUnknown extends Data.TaggedError("SessionUnknown")<{ readonly sessionId: SessionId }> {}
/** The session is bound to another workspace. */
export class SessionElsewhere extends Data.TaggedError("SessionElsewhere")<{ readonly workspace: string }> {}
/** As many tasks wait as may wait. */
export class QueueFull extends Data.TaggedError("QueueFull")<{ readonly maxQueued: number }> {}

/** Where accepted requests become rows. */
export class TaskIntake extends Context.Tag("sagyo/store/TaskIntake")<
  TaskIntake,
  {
    /** The task, its message, its images and its audit row are on disk when this returns. Accepts that come together share one commit. */
    readonly accept: (task: NewTask) => Effect.Effect<Task, SessionUnknown | SessionElsewhere | QueueFull | StoreFailed>
  }
>() {
  static readonly layer = Layer.scoped(
    TaskIntake,
    Effect.gen(function* () {
      const { execute, immediate } = yield* Sql
      const audit = yield* AuditLog
      const changes = yield* StoreChanges
      const group = yield* makeGroupCommit(immediate)

      const waiting = (atMost: number) =>
        Effect.map(
          execute("SELECT 1 FROM tasks WHERE status = 'queued' LIMIT 1 OFFSET ?", atMost - 1),
          (rows) => rows.length > 0
        )

      const checkSession = (task: NewTask, id: SessionId) =>
        Effect.gen(function* () {
          const [session] = yield* execute<{ workspace: string; owner: string | null }>(
            "SELECT workspace, owner FROM sessions WHERE id = ?",
            id
          )
          if (session === undefined || !maySee(task.caller, session.owner)) {
            return yield* new SessionUnknown({ sessionId: id })
          }
          if (session.workspace !== task.settings.workspace)
            return yield* new SessionElsewhere({ workspace: session.workspace })
        })

      const write = (task: NewTask) =>
        Effect.gen(function* () {
          if (task.sessionId !== null) yield* checkSession(task, task.sessionId)
          if (yield* waiting(task.maxQueued)) return yield* new QueueFull({ maxQueued: task.maxQueued })
          const now = yield* Clock.currentTimeMillis
          const id = TaskId.make(randomUUID())
          const owner = task.caller.token
          const session = task.sessionId ?? SessionId.make(randomUUID())
          const settings = yield* settingsRow(task.settings)
          yield* task.sessionId === null
            ? execute(INSERT_SESSION, session, task.settings.workspace, owner, now, now)
            : execute("UPDATE sessions SET used_at = ? WHERE id = ?", now, session)
          const [row] = yield* execute(INSERT_TASK, id, session, owner, settings, task.temperature, now, now)
          yield* writeMessage(task, id, session, now)
          yield* audit.append([
            {
              event: "accepted",
              task: id,
              session,
              caller: nameOf(task.caller),
              status: "queued",
              detail: {
                requestLength: task.request.length,
                requestSha256: createHash("sha256").update(task.request).digest("hex"),
                images: task.images.map((image) => image.ref.hash)
              }
            }
          ])
          return taskOf(row)
        })

      const writeMessage = (task: NewTask, id: TaskId, session: SessionId, now: number) =>
        Effect.gen(function* () {
          const message = new UserMessage({ content: task.request, images: task.images.map((image) => image.ref) })
          const [row] = yield* execute<{ seq: number }>(INSERT_MESSAGE, session, id, encodeMessage(message), now)
          for (const { ref, data } of task.images) {
            yield* execute("INSERT INTO images (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING", ref.hash, data)
            yield* execute(INSERT_MESSAGE_IMAGE, row!.seq, ref.hash)
          }
        })

      const settingsRow = (settings: TaskSettings) => {
        const { hash, body } = storedSettings(settings)
        return Effect.as(
          execute("INSERT INTO settings (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, body),
          hash
        )
      }

      return {
        // no span of its own: measured, making one costs an accept more than its rows do
        accept: (task) => Effect.zipLeft(group.run(write(task)), changes.signal)
      }
    })
  )
}

const INSERT_SESSION = "INSERT INTO sessions (id, workspace, owner, created_at, used_at) VALUES (?, ?, ?, ?, ?)"
const INSERT_TASK = `INSERT INTO tasks (id, session_id, owner, settings, temperature, created_at, updated_at)
  VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *`
const INSERT_MESSAGE = "INSERT INTO messages (session_id, task_id, body, created_at) VALUES (?, ?, ?, ?) RETURNING seq"
const INSERT_MESSAGE_IMAGE = "INSERT INTO message_images (message_seq, hash) VALUES (?, ?) ON CONFLICT DO NOTHING"

const encodeMessage = Schema.encodeSync(Schema.parseJson(Message))
const encodeSettings = Schema.encodeSync(Schema.parseJson(TaskSettings))

interface StoredSettings {
  readonly hash: string
  readonly body: string
}

// a process accepts its tasks with the same settings object for as long as it lives
const known = new WeakMap<TaskSettings, StoredSettings>()

const storedSettings = (settings: TaskSettings): StoredSettings => {
  const before = known.get(settings)
  if (before !== undefined) return before
  const body = encodeSettings(settings)
  const stored = { hash: createHash("sha256").update(body).digest("hex"), body }
  known.set(settings, stored)
  return stored
}
