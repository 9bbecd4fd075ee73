import { Schema } from "effect"

/**
 * One call that the model made. `id` is made by this program, since models leave theirs out or repeat them;
 * `arguments` is always an object, since Ollama refuses a replayed call whose arguments are anything else.
 */
export class ToolCall extends Schema.Class<ToolCall>("ToolCall")({
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.Record({ key: Schema.String, value: Schema.Unknown })
}) {}

/** How a call ended: `interrupted` means that nobody knows how far it got. */
export const ToolOutcomeKind = Schema.Literal("ok", "error", "denied", "interrupted")
export type ToolOutcomeKind = typeof ToolOutcomeKind.Type
