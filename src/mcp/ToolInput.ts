import { Either, ParseResult, Schema } from "effect"
import type { Problem } from "../domain/Problem.ts"
import type { Bilingual } from "../domain/Settings.ts"
import { bounded, maxElements } from "./InputBounds.ts"
import { isObject, type JsonObject } from "./JsonRpc.ts"
import { oneLine } from "./StatusText.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.NullOr(schema), { default: () => null })

/** Types only: what the values may be is judged where a task is accepted. */
export const AgentRunInput = Schema.Struct({
  request: Schema.String,
  session_id: optional(Schema.String),
  temperature: optional(Schema.Number),
  images: optional(Schema.Array(Schema.Struct({ mime_type: Schema.String, data_base64: Schema.String })))
})

export const AgentStatusInput = Schema.Struct({ task_id: Schema.UUID, session_id: optional(Schema.UUID) })

/** What arguments came to. With problems, `value` is what is left of them, so that its values can be judged as well. */
export interface Decoded<A> {
  readonly value: A
  readonly problems: ReadonlyArray<Problem>
}

/** Some hosts send the string `null` for an optional argument; it is taken as null, and nothing else loosely. */
const nullable = ["session_id", "temperature", "images"]

const imageMembers = ["mime_type", "data_base64"]

/** More problems than this are counted, not listed. */
const maxProblems = 50

/**
 * Decodes a tool's arguments strictly and finds every problem of the whole input. Of the names in
 * `ignored`, those that the tool does not have are dropped first. `blank` stands in for required
 * properties that are missing or wrong.
 */
export const decodeArguments = <A, I extends JsonObject>(
  schema: Schema.Schema<A, I> & { readonly fields: JsonObject },
  blank: I,
  input: unknown,
  ignored: ReadonlyArray<string>
): Decoded<A> => {
  const decode = Schema.decodeUnknownEither(schema, { onExcessProperty: "error", errors: "all" })
  const rest = (args: unknown) => Either.getOrThrow(decode({ ...blank, ...(isObject(args) && args) }))
  if (input !== undefined && !isObject(input)) {
    return { value: rest({}), problems: [wrongValue("arguments", input)] }
  }
  const known = Object.keys(schema.fields)
  const given = Object.entries(input ?? {}).filter(([name]) => known.includes(name) || !ignored.includes(name))
  const unknown = given.filter(([name]) => !known.includes(name))
  const taken = [...given.filter(([name]) => known.includes(name)), ...unknown.slice(0, maxProblems)]
  const overlong = taken.filter(([, value]) => Array.isArray(value) && value.length > maxElements)
  // fromEntries defines each member, so that a name such as __proto__ stays a member and is refused.
  const args = Object.fromEntries(
    taken.map(([name, value]) => [
      name,
      (value === "null" && nullable.includes(name)) || overlong.some(([other]) => other === name)
        ? null
        : bounded(value, imageMembers)
    ])
  )
  const tooLong = overlong.filter(([name]) => nullable.includes(name)).map(([name, value]) => wrongValue(name, value))
  return Either.match(decode(args), {
    onRight: (value) => ({ value, problems: tooLong }),
    onLeft: (error) => {
      const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
      const wrong = new Set(issues.map(({ path }) => path[0]))
      const good = Object.entries(args).filter(([name]) => !wrong.has(name))
      const problems = [...tooLong, ...problemsOf(issues, Object.fromEntries(taken), known)]
      return {
        value: rest(Object.fromEntries(good)),
        problems: listed(problems, unknown.length - Math.min(unknown.length, maxProblems))
      }
    }
  })
}

/** So many as a person reads, and how many there are beside them at least. */
const listed = (problems: ReadonlyArray<Problem>, more: number): ReadonlyArray<Problem> => {
  const further = Math.max(0, problems.length - maxProblems) + more
  return further === 0 ? problems : [...problems.slice(0, maxProblems), furtherProblems(further)]
}

const problemsOf = (
  issues: ReadonlyArray<ParseResult.ArrayFormatterIssue>,
  args: JsonObject,
  known: ReadonlyArray<string>
): ReadonlyArray<Problem> => {
  const byField = new Map<string, Problem>()
  const outer = new Set(issues.flatMap(({ path }) => path.map((_, length) => JSON.stringify(path.slice(0, length)))))
  for (const { _tag, path } of issues) {
    const field = fieldName(path)
    if (byField.has(field) || outer.has(JSON.stringify(path))) continue
    byField.set(
      field,
      _tag === "Unexpected"
        ? unknownProperty(field, path.length === 1 ? known : imageMembers)
        : _tag === "Missing"
          ? missing(field)
          : wrongValue(field, valueAt(args, path))
    )
  }
  return [...byField.values()]
}

type Path = ReadonlyArray<PropertyKey>

const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], root)

/** `images[0].mime_type`; a name that the client made up is cut and kept to one line. */
const fieldName = (path: Path): string => {
  const name = path.reduce<string>(
    (front, key) =>
      typeof key === "number" ? `${front}[${key}]` : front === "" ? String(key) : `${front}.${String(key)}`,
    ""
  )
  return oneLine(name) || JSON.stringify(name.slice(0, 20))
}

const unknownProperty = (field: string, known: ReadonlyArray<string>): Problem => ({
  field,
  text: {
    ja: `この名前の引数はありません。指定できるのは ${known.join("、")} です。`,
    en: `there is no property of this name. Accepted are ${known.join(", ")}.`
  }
})

const missing = (field: string): Problem => {
  const accepted = acceptedFor(field)
  return {
    field,
    text: {
      ja: `必須ですが、ありません。${accepted.ja}を指定してください。`,
      en: `is required but missing. Give ${accepted.en}.`
    }
  }
}

const wrongValue = (field: string, value: unknown): Problem => {
  const accepted = acceptedFor(field)
  const found = describe(field, value)
  return {
    field,
    text: {
      ja: `${found.ja}は使えません。${accepted.ja}を指定してください。`,
      en: `${found.en} is not accepted. Give ${accepted.en}.`
    }
  }
}

const furtherProblems = (count: number): Problem => ({
  field: "arguments",
  text: {
    ja: `ほかに ${count} 件以上の誤りがあります。`,
    en: `there are at least ${count} further problems.`
  }
})

const acceptedFor = (field: string): Bilingual => accepted[field.replace(/\[\d+\]/, "[]")] ?? anObject

const anObject: Bilingual = { ja: "オブジェクト", en: "an object" }

const accepted: Readonly<Record<string, Bilingual>> = {
  request: { ja: "空白だけでない文字列", en: "a string that is neither empty nor only white space" },
  session_id: { ja: "既存のセッションの UUID か null ", en: "the UUID of an existing session, or null" },
  task_id: { ja: "agent_run が返したタスクの UUID", en: "the UUID of a task that agent_run returned" },
  temperature: { ja: "0.0 から 2.0 までの数値か null ", en: "a number from 0.0 through 2.0, or null" },
  images: { ja: "画像の配列か null ", en: "an array of images, or null" },
  "images[]": { ja: "mime_type と data_base64 を持つオブジェクト", en: "an object with mime_type and data_base64" },
  "images[].mime_type": {
    ja: "image/png、image/jpeg、image/webp のいずれか",
    en: "image/png, image/jpeg or image/webp"
  },
  "images[].data_base64": { ja: "画像の Base64 文字列", en: "the image as a Base64 string" }
}

/** Image data never gets into an answer or a log, and of other strings only the beginning does. */
const describe = (field: string, value: unknown): Bilingual => {
  if (value === null || typeof value === "number" || typeof value === "boolean") {
    return { ja: `${value} `, en: String(value) }
  }
  if (Array.isArray(value)) {
    return value.length > maxElements
      ? { ja: `${value.length} 個の要素の配列`, en: `an array of ${value.length} elements` }
      : { ja: "配列", en: "an array" }
  }
  if (typeof value !== "string") return { ja: "オブジェクト", en: "an object" }
  if (field.startsWith("images")) return { ja: "文字列", en: "a string" }
  const shown = JSON.stringify(Array.from(value.slice(0, 80)).slice(0, 40).join(""))
  return { ja: `文字列 ${shown} `, en: `the string ${shown}` }
}
