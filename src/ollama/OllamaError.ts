import { Schema } from "effect"
import { TokenUsage } from "../domain/Task.ts"

const usage = TokenUsage.pipe(
  Schema.propertySignature,
  Schema.withConstructorDefault(() => ({ input: 0, output: 0 }))
)

/** Nothing answers at `baseUrl`: `ollama serve` mends it. */
export class OllamaUnreachable extends Schema.TaggedError<OllamaUnreachable>()("OllamaUnreachable", {
  baseUrl: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `no answer from ${this.baseUrl}: ${this.reason}`
  }
}

/** The server does not have the model: `ollama pull` mends it. */
export class OllamaModelMissing extends Schema.TaggedError<OllamaModelMissing>()("OllamaModelMissing", {
  model: Schema.String,
  message: Schema.String
}) {}

/** The model cannot do what was asked of it: `capability` is Ollama's word (tools, thinking, chat). */
export class OllamaUnsupported extends Schema.TaggedError<OllamaUnsupported>()("OllamaUnsupported", {
  model: Schema.String,
  capability: Schema.String,
  message: Schema.String
}) {}

/** The prompt does not fit into the context: it is to be shortened and asked again. */
export class OllamaContextExceeded extends Schema.TaggedError<OllamaContextExceeded>()("OllamaContextExceeded", {
  message: Schema.String
}) {}

/** The model wrote a call that Ollama's own parser could not read. */
export class OllamaBadToolCall extends Schema.TaggedError<OllamaBadToolCall>()("OllamaBadToolCall", {
  message: Schema.String
}) {}

/**
 * The server was busy, restarting or failing for as long as we were ready to wait; `status` is null where
 * there was none. `usage` is what it reported over all attempts.
 */
export class OllamaUnavailable extends Schema.TaggedError<OllamaUnavailable>()("OllamaUnavailable", {
  status: Schema.NullOr(Schema.Number),
  message: Schema.String,
  usage
}) {}

/**
 * The stream ended before its `done` record, or held a record that is none of Ollama's, as often as it was
 * tried. `usage` is what the server reported over all attempts.
 */
export class OllamaStreamBroken extends Schema.TaggedError<OllamaStreamBroken>()("OllamaStreamBroken", {
  message: Schema.String,
  usage
}) {}

/** Any other refusal: permanent, with the server's own words. */
export class OllamaRefused extends Schema.TaggedError<OllamaRefused>()("OllamaRefused", {
  status: Schema.Number,
  message: Schema.String
}) {}

export type OllamaError =
  | OllamaUnreachable
  | OllamaModelMissing
  | OllamaUnsupported
  | OllamaContextExceeded
  | OllamaBadToolCall
  | OllamaUnavailable
  | OllamaStreamBroken
  | OllamaRefused
