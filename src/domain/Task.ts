import { Schema } from "effect"
import { SessionId } from "./Session.ts"
import type { TaskSettings } from "./Settings.ts"

/** A task's id, for MCP and for the agent alike: a UUID in lower case. */
export const TaskId = Schema.UUID.pipe(Schema.brand("TaskId"))
export type TaskId = typeof TaskId.Type

export const TaskStatus = Schema.Literal("queued", "planning", "running", "completed", "failed", "cancelled")
export type TaskStatus = typeof TaskStatus.Type

export const isTerminal = (status: TaskStatus): status is "completed" | "failed" | "cancelled" =>
  status === "completed" || status === "failed" || status === "cancelled"

/** Sums of the counts that the model's server reported, over all calls of a task. */
export const TokenUsage = Schema.Struct({ input: Schema.Number, output: Schema.Number })
export type TokenUsage = typeof TokenUsage.Type

/** A task as everybody but its runner sees it. Times are milliseconds since the epoch; order is by `seq`, never by time. */
export class Task extends Schema.Class<Task>("Task")({
  id: TaskId,
  seq: Schema.Number,
  sessionId: SessionId,
  owner: Schema.NullOr(Schema.String),
  status: TaskStatus,
  cancelRequested: Schema.Boolean,
  completedSteps: Schema.Number,
  plannedSteps: Schema.Number,
  currentTask: Schema.String,
  usage: TokenUsage,
  criticalPathTokens: Schema.Number,
  result: Schema.String,
  createdAt: Schema.Number,
  updatedAt: Schema.Number,
  endedAt: Schema.NullOr(Schema.Number)
}) {}

/** A task whose turn has come, with what it was accepted with. */
export interface RunnableTask {
  readonly id: TaskId
  readonly sessionId: SessionId
  readonly request: string
  readonly temperature: number | null
  readonly settings: TaskSettings
  /** How often a runner died while it worked on this task. */
  readonly uncleanEnds: number
  /** When the task was first taken up, in milliseconds since the epoch. */
  readonly startedAt: number
}

/** How a task ended. `result` is what `agent_status` shows last. */
export interface TaskEnd {
  readonly status: "completed" | "failed" | "cancelled"
  readonly result: string
}
