import { text } from "node:stream/consumers"
import { Effect, type Scope } from "effect"
import type { ScriptEntry } from "../../src/ollama/ScriptedOllama.ts"
import { type Child, type Home, makeHome, start } from "../mcp/BuiltProgram.ts"
import { scriptedOllama } from "../support/ScriptedOllama.ts"

/** What a command left behind. */
export interface Finished {
  readonly exit: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A command that is at work. */
export interface Working extends Child {
  readonly finished: Effect.Effect<Finished>
}

/** Starts a command of the built program; its stdin is open and empty. */
export const starting = (
  args: ReadonlyArray<string>,
  env?: Readonly<Record<string, string>>
): Effect.Effect<Working, never, Scope.Scope> =>
  Effect.map(start(args, env), (child) => {
    const stdout = text(child.process.stdout)
    const finished = Effect.promise(async () => {
      const [exit, written] = await Promise.all([child.exit, stdout])
      return { exit, stdout: written, stderr: child.stderr() }
    })
    return { ...child, finished }
  })

/** Runs a command to its end, with this on its stdin. */
export const sagyo = (
  args: ReadonlyArray<string>,
  input = "",
  env?: Readonly<Record<string, string>>
): Effect.Effect<Finished, never, Scope.Scope> =>
  Effect.flatMap(starting(args, env), (child) => {
    child.process.stdin.end(input)
    return child.finished
  })

/** A scripted model and a home whose settings name it; English. */
export const homeWith = (script: ReadonlyArray<ScriptEntry>, more = "") =>
  Effect.map(scriptedOllama(script), (ollama) => ({ ollama, home: makeHome(ollama.url, `locale: en\n${more}`) }))

/** `run REQUEST` and the like, with the settings of this home. */
export const at = (home: Home, ...args: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...args,
  "--config",
  home.config
]

export const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/

/** Succeeds once the command's stderr matches. */
export const said = (child: Child, pattern: RegExp): Effect.Effect<string> =>
  Effect.async<string>((resume) => {
    const look = () => {
      const found = pattern.exec(child.stderr())
      if (found === null) return
      child.process.stderr.off("data", look)
      resume(Effect.succeed(found[1] ?? found[0]))
    }
    child.process.stderr.on("data", look)
    look()
  })
