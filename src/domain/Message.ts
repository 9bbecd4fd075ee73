import { Schema } from "effect"
import { ImageRef } from "./Image.ts"
import { ToolCall, ToolOutcomeKind } from "./ToolCall.ts"

export class UserMessage extends Schema.TaggedClass<UserMessage>("sagyo/UserMessage")("user", {
  content: Schema.String,
  images: Schema.Array(ImageRef)
}) {}

/** What the model answered; `thinking` is kept apart and is never an answer. */
export class AssistantMessage extends Schema.TaggedClass<AssistantMessage>("sagyo/AssistantMessage")("assistant", {
  content: Schema.String,
  thinking: Schema.String,
  toolCalls: Schema.Array(ToolCall)
}) {}

/** What came of the call `callId`; `changed` lists workspace paths that it wrote, or the command that it ran. */
export class ToolMessage extends Schema.TaggedClass<ToolMessage>("sagyo/ToolMessage")("tool", {
  callId: Schema.String,
  toolName: Schema.String,
  outcome: ToolOutcomeKind,
  content: Schema.String,
  changed: Schema.Array(Schema.String)
}) {}

/** One entry of a session's append-only history. */
export const Message = Schema.Union(UserMessage, AssistantMessage, ToolMessage)
export type Message = typeof Message.Type
