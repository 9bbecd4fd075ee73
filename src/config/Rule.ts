import { Either } from "effect"

/** What a setting may be: its value, or the words that say what is accepted. */
export type Rule<A> = (value: unknown) => Either.Either<A, string>

/** A value as an error may show it: on one line, short, control characters escaped. */
export const shown = (value: unknown): string => {
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing")
  const line = text.replace(/[\u007f-\u009f\u2028\u2029]/g, "?")
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

const refuse = (expected: string, value: unknown) => Either.left(`must be ${expected}, not ${shown(value)}`)

export const boolean: Rule<boolean> = (value) =>
  typeof value === "boolean" ? Either.right(value) : refuse("true or false", value)

/** One of a few words (or booleans, where YAML reads the word as one). */
export const oneOf =
  <const A extends string | boolean>(...accepted: ReadonlyArray<A>): Rule<A> =>
  (value) => {
    const found = accepted.find((each) => each === value)
    return found !== undefined ? Either.right(found) : refuse(listed(accepted), value)
  }

const listed = (words: ReadonlyArray<unknown>) =>
  words.length === 1 ? String(words[0]) : `${words.slice(0, -1).join(", ")} or ${words[words.length - 1]}`

/** A finite number within both bounds. */
export const number =
  (min: number, max: number): Rule<number> =>
  (value) =>
    typeof value === "number" && value >= min && value <= max
      ? Either.right(value + 0)
      : refuse(`a number from ${min} to ${max}`, value)

export const integer =
  (min: number, max: number): Rule<number> =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
      ? Either.right(value + 0)
      : refuse(`a whole number from ${min} to ${max}`, value)

/** Text on one line that matches; other scalars are refused with the hint to quote them. */
export const text =
  (expected: string, accepts: RegExp): Rule<string> =>
  (value) => {
    if (typeof value === "number" || typeof value === "boolean") {
      return Either.left(`must be ${expected}: put quotes around ${shown(value)}`)
    }
    return typeof value === "string" && accepts.test(value) ? Either.right(value) : refuse(expected, value)
  }

export const orNull =
  <A>(rule: Rule<A>): Rule<A | null> =>
  (value) =>
    value === null
      ? Either.right(null)
      : Either.mapLeft(rule(value), (words) => words.replace("must be ", "must be null or "))
