#!/usr/bin/env node
import { Cause, Effect, Exit, Fiber, Option } from "effect"
import manifest from "../package.json" with { type: "json" }
import type { Command, CommandInput } from "./cli/Command.ts"
import { readCommandLine } from "./cli/CommandLine.ts"
import { commands } from "./cli/commands.ts"
import { helpText } from "./cli/Help.ts"

const WRONG = 2

/** Runs a command to its end; a signal interrupts it, and its clean-up still runs. */
const runCommand = async (command: Command, input: CommandInput): Promise<number> => {
  const program = await command.program(input)
  const fiber = Effect.runFork(program)
  const interrupt = () => void Effect.runFork(Fiber.interruptFork(fiber))
  const signals: ReadonlyArray<NodeJS.Signals> = command.ownsInterrupt
    ? ["SIGTERM", "SIGHUP"]
    : ["SIGTERM", "SIGHUP", "SIGINT"]
  for (const signal of signals) process.on(signal, interrupt)
  const exit = await Effect.runPromise(Fiber.await(fiber))
  return Exit.match(exit, { onSuccess: (code) => code, onFailure: exitCodeOf })
}

/** A signal that was answered by a clean end is success; what cannot start says why and what mends it. */
const exitCodeOf = (cause: Cause.Cause<{ readonly message: string }>): number => {
  if (Cause.isInterruptedOnly(cause)) return 0
  const failure = Cause.failureOption(cause)
  complain(Option.isSome(failure) ? failure.value.message : Cause.pretty(cause))
  return Option.isSome(failure) ? WRONG : 1
}

const complain = (text: string) => process.stderr.write(`sagyo: ${text}\n`)

const main = async (argv: ReadonlyArray<string>): Promise<number> => {
  const asked = readCommandLine(argv, commands)
  switch (asked._tag) {
    case "version":
      process.stdout.write(`${manifest.version}\n`)
      return 0
    case "help":
      process.stdout.write(helpText(asked.name, commands, process.env))
      return 0
    case "wrong":
      complain(`${asked.reason}\nSee sagyo --help`)
      return WRONG
    case "run":
      return runCommand(asked.command, asked.input)
  }
}

// nobody reads what is left, and saying so would raise the next EPIPE
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)

process.exit(await main(process.argv.slice(2)))
