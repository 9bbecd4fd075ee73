import { Context, type Effect, type Option } from "effect"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import type { Message } from "../domain/Message.ts"
import type { Task, TaskId, TokenUsage } from "../domain/Task.ts"
import type { StoreFailed } from "./Sql.ts"

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

export class TaskRepo extends Context.Tag("sagyo/store/TaskRepo")<
  TaskRepo,
  {
    readonly get: (id: TaskId) => Effect.Effect<Option.Option<Task>, StoreFailed>
    /** One commit; on disk when it returns. Everybody who watches the task sees it. */
    readonly record: (id: TaskId, progress: TaskProgress) => Effect.Effect<void, StoreFailed>
  }
>() {}
