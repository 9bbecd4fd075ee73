import type { SessionId } from "./Session.ts"
import type { TaskId } from "./Task.ts"

/**
 * What the audit log may hold. Commands, paths, reasons and refusals in full; of a request its
 * length and SHA-256; image data, tokens and environment values never.
 */
export interface AuditEvent {
  readonly event:
    | "accepted"
    | "refused"
    | "state"
    | "cancel_requested"
    | "model_call"
    | "tool_call"
    | "approval"
    | "recovered"
  readonly task?: TaskId
  readonly session?: SessionId
  readonly caller?: string
  /** The state that the task has from now on. */
  readonly status?: string
  readonly detail?: Readonly<Record<string, string | number | boolean | null | ReadonlyArray<string>>>
}
