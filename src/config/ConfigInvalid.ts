import { Schema } from "effect"

/**
 * The settings cannot be used. `problems` holds all of one run, one line each:
 * `file:line:column: key.path: what is wrong and what is accepted`, or the name of the flag or variable.
 */
export class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  problems: Schema.NonEmptyArray(Schema.String)
}) {
  override get message(): string {
    return this.problems.join("\n")
  }
}
