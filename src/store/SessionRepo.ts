import { Context, Effect, Layer, Schema } from "effect"
import { Message, UserMessage } from "../domain/Message.ts"
import type { SessionId } from "../domain/Session.ts"
import type { TaskId } from "../domain/Task.ts"
import { Sql } from "./Sql.ts"
import type { StoreFailed } from "./StoreFailed.ts"

export interface StoredMessage {
  readonly seq: number
  readonly taskId: TaskId
  readonly message: Message
}

export class SessionRepo extends Context.Tag("sagyo/store/SessionRepo")<
  SessionRepo,
  {
    /** The session's whole history in order. Images of tasks that failed or were cancelled are left out of it. */
    readonly history: (id: SessionId) => Effect.Effect<ReadonlyArray<StoredMessage>, StoreFailed>
    /** The bytes of stored images, by hash. */
    readonly images: (hashes: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Uint8Array>, StoreFailed>
  }
>() {
  static readonly layer = Layer.effect(
    SessionRepo,
    Effect.gen(function* () {
      const { sql, read } = yield* Sql
      const history = (id: SessionId) =>
        sql<{ seq: number; task_id: TaskId; body: string; images: number }>`
          SELECT m.seq, m.task_id, m.body, EXISTS (SELECT 1 FROM message_images i WHERE i.message_seq = m.seq) AS images
          FROM messages m WHERE m.session_id = ${id} ORDER BY m.seq`.pipe(
          Effect.map((rows) =>
            rows.map((row) => ({
              seq: row.seq,
              taskId: row.task_id,
              message: row.images ? decode(row.body) : withoutImages(decode(row.body))
            }))
          )
        )
      const images = (hashes: ReadonlyArray<string>) =>
        Effect.map(
          sql<{ hash: string; data: Uint8Array }>`SELECT hash, data FROM images WHERE ${sql.in("hash", hashes)}`,
          (rows) => new Map(rows.map((row) => [row.hash, row.data] as const))
        )
      return {
        history: Effect.fn("SessionRepo.history")((id: SessionId) => read(history(id))),
        images: Effect.fn("SessionRepo.images")((hashes: ReadonlyArray<string>) => read(images(hashes)))
      }
    })
  )
}

const decode = Schema.decodeUnknownSync(Schema.parseJson(Message))

const withoutImages = (message: Message): Message =>
  message._tag === "user" && message.images.length > 0
    ? new UserMessage({ content: message.content, images: [] })
    : message
