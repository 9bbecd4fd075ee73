import { Schema } from "effect"

/** What the store may meet while it works: the task fails or waits with this reason, and nothing stored is damaged. */
export class StoreFailed extends Schema.TaggedError<StoreFailed>()("StoreFailed", {
  reason: Schema.Literal("full", "readonly", "busy", "damaged", "io"),
  cause: Schema.Defect
}) {}
