import { Schema } from "effect"
import type { Bilingual, Locale } from "./Settings.ts"

/** One thing that is wrong with a request: the field, and what is wrong and what is accepted, in a sentence. */
export interface Problem {
  readonly field: string
  readonly text: Bilingual
}

/** A request that was refused whole: nothing of it is queued or stored. */
export class RequestRefused extends Schema.TaggedError<RequestRefused>()("RequestRefused", {
  problems: Schema.NonEmptyArray(
    Schema.Struct({ field: Schema.String, text: Schema.Struct({ ja: Schema.String, en: Schema.String }) })
  )
}) {
  /** One line for each problem. */
  sentences(locale: Locale): string {
    return this.problems.map((problem) => `${problem.field}: ${problem.text[locale]}`).join("\n")
  }
}
