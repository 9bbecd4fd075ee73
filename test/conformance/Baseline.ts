import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { parse } from "yaml"

/** What is not expected of a server, and why. */
const Entry = Schema.Struct({
  /** `fails`: it cannot pass here. `hollow`: it passes, and would without the server doing anything right. */
  is: Schema.Literal("fails", "hollow"),
  server: Schema.Literal("sagyo", "fixture"),
  versions: Schema.NonEmptyArray(Schema.Literal("2026-07-28", "2025-11-25")),
  reason: Schema.NonEmptyTrimmedString,
  /** A scenario, or `scenario:check` for one of its checks. */
  what: Schema.NonEmptyArray(Schema.String)
})
export type Entry = typeof Entry.Type

/** One check of a scenario, as the suite writes it. */
export interface Check {
  readonly id: string
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  readonly errorMessage?: string
}

export const readBaseline = (file: URL): ReadonlyArray<Entry> =>
  Schema.decodeUnknownSync(Schema.Array(Entry), { onExcessProperty: "error" })(parse(readFileSync(file, "utf8")))

/** What is wrong with a scenario's outcome, in sentences; `counted` are the checks that passed and mean something. */
export interface Verdict {
  readonly problems: ReadonlyArray<string>
  readonly counted: number
  /** The entries of the baseline that were needed, as they are written there. */
  readonly used: ReadonlyArray<string>
}

const passed = ({ status }: Check): boolean => status === "SUCCESS" || status === "INFO"

/** Every scenario has checks of the wire's schema beside its own. */
const isOwn = ({ id, status }: Check): boolean => status === "SUCCESS" && !id.startsWith("wire-schema-")

/** `hollow` says that the scenario passes against a server that has nothing, too. */
export const judge = (
  scenario: string,
  checks: ReadonlyArray<Check>,
  hollow: boolean,
  entries: ReadonlyArray<Entry>
): Verdict => {
  const entryOf = (what: string) => entries.find((entry) => entry.what.includes(what))
  const whole = entryOf(scenario)
  if (whole !== undefined) {
    const fails = checks.some((check) => !passed(check)) || checks.length === 0
    const stale = whole.is === "fails" ? !fails : fails
    const problems = stale ? [`${scenario}: the baseline says "${whole.is}", and that is no longer so`] : []
    // What the server sends must be valid also where it does not do what the scenario asks.
    const invalid = checks.filter((check) => check.id === "wire-schema-valid" && !passed(check))
    return { problems: [...problems, ...invalid.map(describe(scenario))], counted: 0, used: [scenario] }
  }
  const problems: Array<string> = []
  const used: Array<string> = []
  for (const id of new Set(checks.map((check) => check.id))) {
    const bad = checks.filter((check) => check.id === id && !passed(check))
    const name = `${scenario}:${id}`
    if (entryOf(name) === undefined) {
      problems.push(...bad.map(describe(scenario)))
    } else {
      used.push(name)
      if (bad.length === 0) problems.push(`${name}: the baseline says "fails", and that is no longer so`)
    }
  }
  const counted = checks.filter(isOwn).length
  if (counted === 0) problems.push(`${scenario}: nothing was tested; the baseline must say why`)
  else if (hollow)
    problems.push(`${scenario}: passes against an empty server as well; the baseline must call it hollow`)
  return { problems, counted, used }
}

const describe =
  (scenario: string) =>
  ({ id, status, errorMessage }: Check): string =>
    `${scenario}:${id}: ${status}${errorMessage === undefined ? "" : `: ${errorMessage.slice(0, 300)}`}`
