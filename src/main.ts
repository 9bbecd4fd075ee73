#!/usr/bin/env node
import module from "node:module"
import manifest from "../package.json" with { type: "json" }
import { readCommandLine } from "./cli/CommandLine.ts"
import { commands } from "./cli/commands.ts"
import { helpLocale, helpText, usageHint } from "./cli/Help.ts"

const WRONG = 2

/** Reads the command line and runs its command. What answers without one (help, a mistake) loads nothing else. */
const main = async (argv: ReadonlyArray<string>): Promise<number> => {
  const asked = readCommandLine(argv, commands)
  switch (asked._tag) {
    case "version":
      return say(process.stdout, `${manifest.version}\n`, 0)
    case "help":
      return say(process.stdout, helpText(asked.name, commands, helpLocale(process.env)), 0)
    case "wrong":
      return say(process.stderr, `sagyo: ${asked.reason}\n${usageHint(asked.name, commands)}\n`, WRONG)
    case "run": {
      const { runCommand } = await import("./cli/RunCommand.ts")
      return runCommand(asked.command, asked.input)
    }
  }
}

const say = (stream: NodeJS.WriteStream, text: string, code: number): Promise<number> =>
  new Promise((resolve) => stream.write(text, () => resolve(code)))

// nobody reads what is left, and saying so would raise the next EPIPE
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)

// Node 22.1 on keeps what it has compiled for the next start
const { enableCompileCache } = module as { readonly enableCompileCache?: () => void }
enableCompileCache?.()

process.exit(await main(process.argv.slice(2)))
