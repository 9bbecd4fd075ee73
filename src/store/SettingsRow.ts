import { Schema } from "effect"
import { type Locale, TaskSettings } from "../domain/Settings.ts"

/** None where another version wrote it, with keys that this one does not know or lacks. */
export const settingsOf = Schema.decodeUnknownOption(Schema.parseJson(TaskSettings))

/** Also of settings that cannot be read otherwise. */
export const localeOf = (body: string): Locale =>
  (JSON.parse(body) as { readonly locale?: unknown }).locale === "en" ? "en" : "ja"
