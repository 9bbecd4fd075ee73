import { Schema } from "effect"

/** The work ended without an answer, for a reason in both languages. */
export class WorkFailed extends Schema.TaggedError<WorkFailed>()("WorkFailed", {
  text: Schema.Struct({ ja: Schema.String, en: Schema.String })
}) {}
