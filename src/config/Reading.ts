import { Either } from "effect"
import type { ReadConfig } from "./ConfigReader.ts"
import type { Rule } from "./Rule.ts"
import type { Sources } from "./Sources.ts"

/** Where the values of one run come from, and who hears of the problems that are met. */
export interface Reading {
  readonly sources: Sources
  readonly file: string | null
  readonly config: ReadConfig
  readonly report: (problem: string) => void
}

/** The value of a flag or a variable; null where it is not given, or is wrong and reported. */
export const decided = <A>({ report }: Reading, name: string, rule: Rule<A>, value: unknown): A | null => {
  if (value === undefined) return null
  return Either.getOrElse(rule(value), (words) => {
    report(`${name}: ${words}`)
    return null
  })
}

/** A variable of the environment. An empty one counts as none. */
export const variable = <A>(reading: Reading, name: string, rule: Rule<A>): A | null =>
  decided(reading, name, rule, reading.sources.env[name] || undefined)
