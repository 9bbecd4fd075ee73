import { type FlagName, flags, isFlagName } from "./Flags.ts"

/** A command line taken apart, before anybody knows what its command accepts. */
export interface TakenApart {
  readonly help: boolean
  readonly version: boolean
  readonly given: ReadonlyArray<GivenFlag>
  readonly positionals: ReadonlyArray<string>
}

export interface GivenFlag {
  /** Without dashes; not always one that is known. */
  readonly name: string
  readonly value: string | undefined
}

/** Flags may stand before or after arguments; what stands behind `--` is an argument, and so is a lone `-`. */
export const takeApart = (argv: ReadonlyArray<string>): TakenApart => {
  const end = argv.indexOf("--")
  const given: Array<GivenFlag> = []
  const positionals: Array<string> = []
  const waiting = end < 0 ? [...argv] : argv.slice(0, end)
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next === "-" || !next.startsWith("-")) {
      positionals.push(next)
      continue
    }
    const [, name = next, inline] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(next) ?? []
    const takes = next.startsWith("--") && isFlagName(name) && flags[name].takes !== undefined
    given.push({ name, value: inline ?? (takes && !isFlag(waiting[0]) ? waiting.shift() : undefined) })
  }
  const asks = (...spellings: ReadonlyArray<string>) =>
    given.some(({ name, value }) => value === undefined && spellings.includes(name))
  return {
    help: asks("help", "-h"),
    version: asks("version", "-V"),
    given: given.filter(({ name }) => !["help", "-h", "version", "-V"].includes(name)),
    positionals: end < 0 ? positionals : [...positionals, ...argv.slice(end + 1)]
  }
}

/** Where a value was forgotten, a flag of ours stands in its place. */
const isFlag = (text: string | undefined) => text?.startsWith("--") === true && isFlagName(text.slice(2).split("=")[0]!)

/** The value of a flag as its command gets it, or what is wrong with it. */
export const readFlag = (
  name: FlagName,
  value: string | undefined
): { readonly value: string | number | boolean } | { readonly wrong: string } => {
  const { takes, number } = flags[name]
  if (takes === undefined) return value === undefined ? { value: true } : { wrong: `--${name} takes no value` }
  if (value === undefined || value === "") return { wrong: `--${name} takes a value: --${name} ${takes}` }
  if (number === undefined) return { value }
  const count = value.trim() === "" ? Number.NaN : Number(value)
  return number.holds(count) ? { value: count } : { wrong: `--${name} takes ${number.accepted}, not "${value}"` }
}
