import { parseArgs } from "node:util"
import { closest } from "../config/NearestKey.ts"
import type { Command, CommandInput } from "./Command.ts"

/** What the command line asks for. */
export type Asked =
  | { readonly _tag: "run"; readonly name: string; readonly command: Command; readonly input: CommandInput }
  | { readonly _tag: "help"; readonly name: string | undefined }
  | { readonly _tag: "version" }
  | { readonly _tag: "wrong"; readonly reason: string }

const options = {
  config: { type: "string" },
  host: { type: "string" },
  port: { type: "string" },
  session: { type: "string" },
  temperature: { type: "string" },
  image: { type: "string", multiple: true },
  detach: { type: "boolean" },
  json: { type: "boolean" },
  state: { type: "string" },
  limit: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" }
} as const

const wrong = (reason: string): Asked => ({ _tag: "wrong", reason })

/** Flags may stand before or after a command's arguments; what stands behind `--` is an argument. */
export const readCommandLine = (argv: ReadonlyArray<string>, commands: Readonly<Record<string, Command>>): Asked => {
  const parsed = parse(argv)
  if (typeof parsed === "string") return wrong(parsed)
  const { values, positionals } = parsed
  const [name, ...rest] = positionals
  if (values.version) return { _tag: "version" }
  if (name === undefined)
    return values.help || argv.length === 0 ? { _tag: "help", name: undefined } : wrong("a command is missing")
  if (name === "help") return { _tag: "help", name: rest[0] }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) return wrong(`there is no command "${name}"${hint(name, Object.keys(commands))}`)
  if (values.help) return { _tag: "help", name }
  const stray = Object.keys(values).find((flag) => flag !== "config" && !command.flags.some((known) => known === flag))
  if (stray !== undefined) return wrong(`sagyo ${name} has no flag --${stray}. Usage: sagyo ${command.usage}`)
  if (rest.length < command.arguments.least || rest.length > command.arguments.most) {
    const too =
      rest.length < command.arguments.least
        ? "an argument is missing"
        : "there are too many arguments (put one that has spaces into quotes)"
    return wrong(`${too}. Usage: sagyo ${command.usage}`)
  }
  const port = numberOf(
    "port",
    values.port,
    (n) => Number.isInteger(n) && n >= 0 && n <= 65535,
    "a whole number from 0 to 65535"
  )
  const limit = numberOf("limit", values.limit, (n) => Number.isInteger(n) && n >= 1, "a whole number from 1")
  const temperature = numberOf("temperature", values.temperature, Number.isFinite, "a number")
  for (const read of [port, limit, temperature]) if (typeof read === "string") return wrong(read)
  const { config, host, session, image, detach, json, state } = values
  const flags = defined({ config, host, session, image, detach, json, state, port, limit, temperature })
  return { _tag: "run", name, command, input: { flags: flags as CommandInput["flags"], arguments: rest } }
}

const parse = (argv: ReadonlyArray<string>) => {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (cause) {
    // parseArgs explains itself in several sentences; the first one names the flag
    return (cause as Error).message.split(". ")[0] ?? "the command line cannot be read"
  }
}

const numberOf = (flag: string, text: string | undefined, holds: (n: number) => boolean, accepted: string) => {
  if (text === undefined) return undefined
  const value = text.trim() === "" ? Number.NaN : Number(text)
  return holds(value) ? value : `--${flag} takes ${accepted}, not "${text}"`
}

const hint = (name: string, known: ReadonlyArray<string>): string => {
  const close = closest(known, name)
  return close === undefined ? ". See sagyo --help" : `. Did you mean "${close}"?`
}

const defined = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
