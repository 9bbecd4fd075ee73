import { Schema } from "effect"

/** A call came to nothing; `message` tells the model what was wrong and what to do instead. */
export class ToolFailed extends Schema.TaggedError<ToolFailed>()("ToolFailed", { message: Schema.String }) {}
