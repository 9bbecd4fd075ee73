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
      const { sql, immediate } = yield* Sql
      const audit = yield* AuditLog
      const changes = yield* StoreChanges
      const group = yield* makeGroupCommit(immediate)

      const waiting = (atMost: number) =>
        sql`SELECT 1 FROM tasks WHERE status = 'queued' LIMIT 1 OFFSET ${atMost - 1}`.pipe(
          Effect.map((rows) => rows.length > 0)
        )

      const checkSession = (task: NewTask, id: SessionId) =>
        Effect.gen(function* () {
          const [session] = yield* sql<{
            workspace: string
            owner: string | null
          }>`SELECT workspace, owner FROM sessions WHERE id = ${id}`
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
            ? sql`INSERT INTO sessions ${sql.insert({ id: session, workspace: task.settings.workspace, owner, created_at: now, used_at: now })}`
            : sql`UPDATE sessions SET used_at = ${now} WHERE id = ${session}`
          const [row] = yield* sql`INSERT INTO tasks ${sql
            .insert({
              id,
              session_id: session,
              owner,
              settings,
              temperature: task.temperature,
              created_at: now,
              updated_at: now
            })
            .returning("*")}`
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
          const [row] = yield* sql<{ seq: number }>`INSERT INTO messages ${sql
            .insert({ session_id: session, task_id: id, body: encodeMessage(message), created_at: now })
            .returning("seq")}`
          for (const { ref, data } of task.images) {
            yield* sql`INSERT INTO images (hash, data) VALUES (${ref.hash}, ${data}) ON CONFLICT DO NOTHING`
            yield* sql`INSERT INTO message_images (message_seq, hash) VALUES (${row!.seq}, ${ref.hash}) ON CONFLICT DO NOTHING`
          }
        })

      const settingsRow = (settings: TaskSettings) => {
        const body = encodeSettings(settings)
        const hash = createHash("sha256").update(body).digest("hex")
        return Effect.as(sql`INSERT INTO settings (hash, body) VALUES (${hash}, ${body}) ON CONFLICT DO NOTHING`, hash)
      }

      return {
        accept: Effect.fn("TaskIntake.accept")((task: NewTask) =>
          Effect.zipLeft(group.run(write(task)), changes.signal)
        )
      }
    })
  )
}

const encodeMessage = Schema.encodeSync(Schema.parseJson(Message))
const encodeSettings = Schema.encodeSync(Schema.parseJson(TaskSettings))
