import { Either, ParseResult, Schema } from "effect"
import type { ConfigText } from "./ConfigFile.ts"
import { ConfigSchema, type ConfigValues, toolRuleKeys } from "./ConfigSchema.ts"
import { type ConfigPath, readTree, type TextProblem } from "./ConfigTree.ts"
import { nearestKey } from "./NearestKey.ts"
import { readPlainYaml } from "./PlainYaml.ts"

/** What a settings file says. Where it has problems, the values are the defaults of those keys. */
export interface ReadConfig {
  readonly values: ConfigValues
  /** One line each, in the order of the file. */
  readonly problems: ReadonlyArray<string>
  /** `file:line:column: key.path: words`, for a problem that only shows when all settings are known. */
  readonly problemAt: (path: ConfigPath, words: string) => string
}

const decode = Schema.decodeUnknownEither(ConfigSchema, { errors: "all", onExcessProperty: "error" })

/** The settings of a file that has nothing in it. */
export const defaults = (): ConfigValues => Either.getOrThrow(decode({}))

const withoutPlaces = (values: ConfigValues): ReadConfig => ({
  values,
  problems: [],
  problemAt: (path, words) => `${dotted(path)}: ${words}`
})

/** A file that says nothing, or that could not be read. */
export const nothingRead = (): ReadConfig => withoutPlaces(defaults())

/** What a plain file without problems says, without the parser; null for any other file. It knows no places. */
export const readPlain = ({ text }: ConfigText): ReadConfig | null => {
  const plain = readPlainYaml(text)
  return plain === null ? null : Either.match(decode(plain), { onLeft: () => null, onRight: withoutPlaces })
}

/** What any file says, with all its problems and their places. */
export const readConfig = (yaml: typeof import("yaml"), { file, text }: ConfigText): ReadConfig => {
  const known = defaults()
  const tree = readTree(yaml, text, (path) => isSection(known, path))
  const line = ({ offset, path, words }: TextProblem) =>
    [`${file}:${tree.lineAndColumn(offset).join(":")}`, ...(path.length > 0 ? [dotted(path)] : []), words].join(": ")
  const [values, issues] = check(tree.value, known)
  const reported = new Set(tree.problems.map(({ path }) => JSON.stringify(path)))
  const unreported = issues.filter(({ path }) => !reported.has(JSON.stringify(path)))
  const wrong = unreported.map((issue) => ({
    ...issue,
    offset: tree.offsetOf(issue.path, issue._tag === "Unexpected" ? "key" : "value")
  }))
  const all = [...tree.problems, ...wrong].sort((a, b) => a.offset - b.offset)
  const shown = all
    .slice(0, maxProblems)
    .map((problem) => line("_tag" in problem ? { ...problem, words: wordsOf(problem, known) } : problem))
  return {
    values,
    problems: all.length > maxProblems ? [...shown, `${file}: and ${all.length - maxProblems} more problems`] : shown,
    problemAt: (path, words) => line({ offset: tree.offsetOf(path, "value"), path, words })
  }
}

/** A file that has more is no settings file. */
const maxProblems = 100

type Issue = ParseResult.ArrayFormatterIssue

const wordsOf = ({ _tag, path, message }: Issue, known: ConfigValues): string => {
  if (_tag === "Unexpected") return `unknown key; ${nearestKey(knownKeys(known, path), path)}`
  return _tag === "Missing" ? "must be given" : message
}

/** Decodes what can be decoded: a second time without the keys that were wrong. */
const check = (value: unknown, known: ConfigValues): readonly [ConfigValues, ReadonlyArray<Issue>] => {
  if (value === undefined) return [known, []]
  const first = decode(value)
  if (Either.isRight(first)) return [first.right, []]
  const issues = ParseResult.ArrayFormatter.formatErrorSync(first.left)
  const wrong = new Set(issues.map(({ path }) => JSON.stringify(path)))
  return [Either.getOrElse(decode(without(value, wrong, []) ?? {}), () => known), issues]
}

/** A list with a wrong item is left out whole. */
const without = (value: unknown, wrong: ReadonlySet<string>, path: ConfigPath): unknown => {
  if (wrong.has(JSON.stringify(path))) return undefined
  if (Array.isArray(value)) {
    return value.some((item, index) => without(item, wrong, [...path, index]) === undefined) ? undefined : value
  }
  if (!isRecord(value)) return value
  const kept = Object.entries(value).map(([key, inner]) => [key, without(inner, wrong, [...path, key])] as const)
  return Object.fromEntries(kept.filter(([, inner]) => inner !== undefined))
}

const isSection = (known: ConfigValues, path: ConfigPath): boolean => {
  const found = path.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : null),
    known
  )
  return isRecord(found)
}

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The path of every key; for an unknown key inside a rule, those of a rule. */
const knownKeys = (known: ConfigValues, unknown: ConfigPath): ReadonlyArray<ConfigPath> => {
  const section = unknown.slice(0, -1)
  return typeof section[section.length - 1] === "number"
    ? toolRuleKeys.map((key) => [...section, key])
    : keysBelow(known, [])
}

/** Sections come before what is in them. */
const keysBelow = (value: unknown, path: ConfigPath): ReadonlyArray<ConfigPath> =>
  isRecord(value)
    ? Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...keysBelow(inner, [...path, key])])
    : []

const dotted = (path: ConfigPath): string =>
  path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${word(String(part))}`))
    .join("")

const word = (key: string) => (/^[\w-]{1,60}$/.test(key) ? key : JSON.stringify(key.slice(0, 60)))
