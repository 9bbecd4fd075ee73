import { Either, ParseResult, Schema } from "effect"
import type { ConfigText } from "./ConfigFile.ts"
import { ConfigSchema, type ConfigValues, toolRuleKeys } from "./ConfigSchema.ts"
import { type ConfigPath, type ConfigTree, readTree, type TextProblem } from "./ConfigTree.ts"
import { nearestKey } from "./NearestKey.ts"

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

/** A file that says nothing, or that could not be read. */
export const nothingRead = (): ReadConfig => ({
  values: defaults(),
  problems: [],
  problemAt: (path, words) => `${dotted(path)}: ${words}`
})

export const readConfig = (yaml: typeof import("yaml"), { file, text }: ConfigText): ReadConfig => {
  const known = defaults()
  const tree = readTree(yaml, text, (path) => isSection(known, path))
  const line = ({ offset, path, words }: TextProblem) =>
    [`${file}:${tree.lineAndColumn(offset).join(":")}`, ...(path.length > 0 ? [dotted(path)] : []), words].join(": ")
  const [values, wrong] = check(tree, known)
  return {
    values,
    problems: [...tree.problems, ...wrong].sort((a, b) => a.offset - b.offset).map(line),
    problemAt: (path, words) => line({ offset: tree.offsetOf(path, "value"), path, words })
  }
}

/** Decodes what can be decoded: a second time without the keys that were wrong. */
const check = (tree: ConfigTree, known: ConfigValues): readonly [ConfigValues, ReadonlyArray<TextProblem>] => {
  if (tree.value === undefined) return [known, []]
  const first = decode(tree.value)
  if (Either.isRight(first)) return [first.right, []]
  const issues = ParseResult.ArrayFormatter.formatErrorSync(first.left)
  const problems = issues.map(({ _tag, path, message }): TextProblem => {
    if (_tag === "Unexpected") {
      return {
        offset: tree.offsetOf(path, "key"),
        path,
        words: `unknown key; ${nearestKey(knownKeys(known, path), path)}`
      }
    }
    return { offset: tree.offsetOf(path, "value"), path, words: _tag === "Missing" ? "must be given" : message }
  })
  const rest = issues.reduce<unknown>((value, { path }) => without(value, path), tree.value)
  return [Either.getOrElse(decode(rest), () => known), problems]
}

const without = (value: unknown, path: ConfigPath): unknown => {
  const [head, ...tail] = path
  // A list with a wrong item is left out whole.
  if (head === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const { [head]: inner, ...others } = value as Record<PropertyKey, unknown>
  const kept = without(inner, tail)
  return kept === undefined ? others : { ...others, [head]: kept }
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
    : leaves(known, [])
}

const leaves = (value: unknown, path: ConfigPath): ReadonlyArray<ConfigPath> =>
  isRecord(value) ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key])) : [path]

const dotted = (path: ConfigPath): string =>
  path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${word(String(part))}`))
    .join("")

const word = (key: string) => (/^[\w-]{1,60}$/.test(key) ? key : JSON.stringify(key.slice(0, 60)))
