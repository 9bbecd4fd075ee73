import { Context, type Effect } from "effect"
import type { Message } from "../domain/Message.ts"
import type { SessionId } from "../domain/Session.ts"
import type { TaskId } from "../domain/Task.ts"
import type { StoreFailed } from "./Sql.ts"

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
>() {}
