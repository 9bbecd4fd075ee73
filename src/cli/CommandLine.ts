import { closest } from "../config/NearestKey.ts"
import type { Command, CommandInput } from "./Command.ts"
import { type GivenFlag, readFlag, type TakenApart, takeApart } from "./FlagReader.ts"
import { everywhere, type FlagName, flags, isFlagName } from "./Flags.ts"

/** What the command line asks for. */
export type Asked =
  | { readonly _tag: "run"; readonly name: string; readonly command: Command; readonly input: CommandInput }
  | { readonly _tag: "help"; readonly name: string | undefined }
  | { readonly _tag: "version" }
  | { readonly _tag: "wrong"; readonly reason: string; readonly name: string | undefined }

type Commands = Readonly<Record<string, Command>>

/** Reads a whole command line; nothing has been loaded or opened by then. */
export const readCommandLine = (argv: ReadonlyArray<string>, commands: Commands): Asked => {
  const line = takeApart(argv)
  const [name, ...rest] = line.positionals
  if (line.version) return { _tag: "version" }
  if (name === undefined) return withoutCommand(argv, line)
  const known = Object.hasOwn(commands, name) ? commands[name] : undefined
  const asksAbout = name === "help" ? rest[0] : name
  if (name === "help" || (line.help && known !== undefined)) {
    if (asksAbout === undefined || Object.hasOwn(commands, asksAbout)) return { _tag: "help", name: asksAbout }
    return unknownCommand(asksAbout, commands)
  }
  return known === undefined ? unknownCommand(name, commands) : readInput(name, known, line.given, rest, commands)
}

const withoutCommand = (argv: ReadonlyArray<string>, line: TakenApart): Asked => {
  if (line.help || argv.length === 0) return { _tag: "help", name: undefined }
  const stray = line.given.find((flag) => !isFlagName(flag.name))
  return wrong(undefined, stray === undefined ? "a command is missing" : `there is no flag ${spelled(stray)}`)
}

const unknownCommand = (name: string, commands: Commands): Asked => {
  const near = nearest(Object.keys(commands), name)
  return wrong(undefined, `there is no command "${name}"${near === undefined ? "" : `. Did you mean "${near}"?`}`)
}

const readInput = (
  name: string,
  command: Command,
  given: ReadonlyArray<GivenFlag>,
  rest: ReadonlyArray<string>,
  commands: Commands
): Asked => {
  const accepted = [...command.flags, ...everywhere]
  const values: Partial<Record<FlagName, unknown>> = {}
  for (const flag of given) {
    const known = accepted.find((each) => each === flag.name)
    if (known === undefined) return wrong(name, strayFlag(name, command, flag, commands))
    const read = readFlag(known, flag.value)
    if ("wrong" in read) return wrong(name, read.wrong)
    if (flags[known].many) values[known] = [...((values[known] as ReadonlyArray<unknown>) ?? []), read.value]
    else if (flags[known].takes !== undefined && known in values) return wrong(name, `--${known} stands twice`)
    else values[known] = read.value
  }
  const { least, most } = command.arguments
  if (rest.length < least) return wrong(name, "an argument is missing")
  if (rest.length > most)
    return wrong(
      name,
      most === 0 ? `it takes no argument, not "${rest[0]}"` : "there are too many arguments (quote one that has spaces)"
    )
  return { _tag: "run", name, command, input: { flags: values as CommandInput["flags"], arguments: rest } }
}

const strayFlag = (name: string, command: Command, flag: GivenFlag, commands: Commands): string => {
  const accepted = [...command.flags, ...everywhere]
  const near = nearest(accepted, flag.name.replace(/^-+/, ""))
  const others = Object.keys(commands).filter((other) => commands[other]?.flags.some((each) => each === flag.name))
  const hint =
    others.length > 0
      ? `it belongs to sagyo ${others.join(", ")}`
      : near !== undefined
        ? `did you mean --${near}?`
        : `it has ${accepted.map((each) => `--${each}`).join(", ")}${command.arguments.most > 0 ? behindDashes : ""}`
  return `${spelled(flag)} is no flag of ${name}: ${hint}`
}

const behindDashes = " (an argument that begins with - stands behind --)"

const spelled = ({ name }: GivenFlag) => {
  const written = name.startsWith("-") ? name : `--${name}`
  return written.length > 40 ? `${written.slice(0, 40)}…` : written
}

/** The one that begins so, or is spelled nearly so. */
const nearest = (known: ReadonlyArray<string>, written: string): string | undefined => {
  const begin = written === "" ? [] : known.filter((each) => each.startsWith(written))
  return begin.length === 1 ? begin[0] : closest(known, written)
}

const wrong = (name: string | undefined, reason: string): Asked => ({ _tag: "wrong", reason, name })
