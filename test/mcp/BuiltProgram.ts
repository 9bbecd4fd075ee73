import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { Effect, type Scope } from "effect"
import { temporaryFolder } from "../support/TestSettings.ts"

/** The bundle that the tests' global set-up built, or an installed one. */
export const program = process.env.SAGYO_TEST_PROGRAM ?? "dist/main.js"

export interface Home {
  readonly config: string
  readonly dataDir: string
  readonly workspace: string
}

/** A settings file of its own, with a data folder and a workspace beside it; `more` is YAML. */
export const makeHome = (ollama: string, more = ""): Home => {
  const folder = temporaryFolder("sagyo-program-")
  const workspace = temporaryFolder("sagyo-workspace-")
  const config = join(folder, "agent.yaml")
  const dataDir = join(folder, "data")
  writeFileSync(
    config,
    `data_dir: ${dataDir}
ollama: { base_url: "${ollama}", model: scripted }
agent: { workspace: ${workspace}, planning: off }
${more}`
  )
  return { config, dataDir, workspace }
}

/** Nothing of the machine's own settings gets in. */
export const cleanEnv = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", LANG: "C.UTF-8" }

export interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  /** What it has written on stderr by now. */
  readonly stderr: () => string
  /** Its exit code, or the signal that ended it. */
  readonly exit: Promise<number | NodeJS.Signals | null>
}

/** Starts the program for the life of the scope. */
export const start = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [program, ...args], {
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...cleanEnv, ...env }
      })
      let stderr = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text
      })
      child.stdin.on("error", () => {})
      const exit = once(child, "exit").then(([code, signal]) => code ?? signal)
      return { process: child, stderr: () => stderr, exit }
    }),
    (child) =>
      Effect.promise(async () => {
        child.process.kill("SIGKILL")
        await child.exit
      })
  )

/** Starts `serve` on a free port and gives the URL once it listens. */
export const startServe = (config: string): Effect.Effect<Child & { readonly url: string }, never, Scope.Scope> =>
  Effect.gen(function* () {
    const child = yield* start(["serve", "--port", "0", "--config", config])
    const url = yield* Effect.async<string>((resume) => {
      const look = () => {
        const found = /listening on (\S+)/.exec(child.stderr())?.[1]
        if (found !== undefined) resume(Effect.succeed(found))
      }
      child.process.stderr.on("data", look)
      child.process.once("exit", () => resume(Effect.dieMessage(`serve ended: ${child.stderr()}`)))
      look()
    })
    return { ...child, url }
  })
