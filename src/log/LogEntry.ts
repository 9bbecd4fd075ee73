import { Cause, HashMap, List, type Logger } from "effect"
import { plainValue } from "./PlainValue.ts"

/** One line of JSON, with its line end: time, level, message, annotations, spans and cause. Never fails. */
export const entryLine = (options: Logger.Logger.Options<unknown>, secrets: Iterable<string>): string => {
  try {
    return lineOf(entryOf(options, secrets))
  } catch (cause) {
    const { date, logLevel } = options
    const reason = plainValue(String(cause), { secrets, left: 1000 })
    return lineOf({
      time: date.toISOString(),
      level: logLevel.label.toLowerCase(),
      message: "an entry could not be read",
      reason
    })
  }
}

/** No entry has more characters, before escaping. */
const maxEntry = 32 * 1024

const entryOf = (
  { date, logLevel, message, annotations, spans, cause }: Logger.Logger.Options<unknown>,
  secrets: Iterable<string>
) => {
  const budget = { secrets, left: maxEntry }
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const details = parts.filter(isDetails)
  const words = parts.filter((part) => !isDetails(part)).map((part) => plainValue(part, budget))
  const fields = Object.assign(Object.create(null), Object.fromEntries(HashMap.toEntries(annotations)), ...details)
  return {
    time: date.toISOString(),
    level: logLevel.label.toLowerCase(),
    message: words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" "),
    ...(Object.keys(fields).length > 0 && { annotations: plainValue(fields, budget) }),
    ...(List.isCons(spans) && { spans: plainValue(durations(spans, date.getTime()), budget) }),
    ...(!Cause.isEmpty(cause) && { cause: plainValue(Cause.pretty(cause, { renderErrorCause: true }), budget) })
  }
}

/** `Effect.logInfo("words", { task })`: what stands beside the words joins the annotations. */
const isDetails = (part: unknown): part is object =>
  typeof part === "object" && part !== null && [Object.prototype, null].includes(Object.getPrototypeOf(part))

const durations = (spans: Logger.Logger.Options<unknown>["spans"], now: number) =>
  Object.fromEntries(List.toArray(spans).map(({ label, startTime }) => [label, now - startTime]))

// JSON leaves these as they are; some terminals obey them, and some tools break lines at them.
const lineOf = (entry: object): string =>
  `${JSON.stringify(entry).replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`
