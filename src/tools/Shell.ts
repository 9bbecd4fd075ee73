import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { type Context, Effect } from "effect"
import type { ToolSettings } from "../domain/Settings.ts"
import type { StartedGroup } from "../domain/StartedGroup.ts"
import { type ChildEnd, runChild } from "./ChildProcess.ts"
import { OutputCapture } from "./OutputCapture.ts"
import { optional, seconds, text } from "./Parameters.ts"
import { currentBoot } from "./ProcessGroup.ts"
import { ProcessLedger } from "./ProcessLedger.ts"
import { pathFolders } from "./Programs.ts"
import { Sandbox } from "./Sandbox.ts"
import { sandboxHome } from "./SandboxArguments.ts"
import { makeTool, type Tool, type ToolContext } from "./Tool.ts"
import type { ToolResult } from "./ToolBox.ts"
import { ToolFailed } from "./ToolFailed.ts"

// The kernel takes no longer single argument than 128 KiB.
const MAX_COMMAND_BYTES = 120 * 1024
const GRACE_MILLIS = 100

/** Runs one command; it and all that it started has ended when the call returns. */
export const makeShell: Effect.Effect<Tool, never, Sandbox | ProcessLedger> = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const ledger = yield* ProcessLedger
  return makeTool({
    name: "shell",
    description:
      "Run a bash command in the workspace, without a terminal or input; background processes end with it. The result has the exit code and the output.",
    parameters: { command: text(), timeout: optional(seconds("Seconds")) },
    dangerous: true,
    subject: ["command"],
    command: (args) => args.command,
    run: (args, context) => runCommand(args.command, args.timeout, context, { sandbox, ledger })
  })
})

interface Services {
  readonly sandbox: Context.Tag.Service<Sandbox>
  readonly ledger: Context.Tag.Service<ProcessLedger>
}

const runCommand = Effect.fn("Shell.run")(function* (
  command: string,
  timeout: number | undefined,
  context: ToolContext,
  { sandbox, ledger }: Services
) {
  yield* checkCommand(command)
  const { tools } = context.environment.settings
  const limit = Math.min(tools.shell.timeout, (timeout ?? Number.POSITIVE_INFINITY) * 1000)
  const capture = new OutputCapture()
  const confinement =
    tools.shell.sandbox === "off" ? null : yield* sandbox.confine(context.workspace, tools.shell.network)
  const bash = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh"
  const marker = `SAGYO_CALL=${randomUUID()}`
  const restore = confinement?.restore ?? Effect.succeed([])
  const recorded: Array<StartedGroup> = []
  const end = yield* runChild({
    // Both streams in one, so that they come in the order in which they were written.
    argv: ["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", ...(confinement?.argv ?? []), bash, "-c", command],
    cwd: context.workspace.root,
    env: environmentOf(tools, confinement !== null, marker),
    timeoutMillis: limit,
    graceMillis: GRACE_MILLIS,
    marker: confinement === null ? marker : null,
    onStdout: (chunk) => capture.push(chunk),
    onStderr: (chunk) => capture.push(chunk),
    onStarted: (pgid, startTime) =>
      Effect.flatMap(currentBoot, (bootId) => {
        const group = { taskId: context.environment.taskId, pgid, startTime, bootId, marker }
        recorded.push(group)
        return ledger.record(group)
      })
  }).pipe(
    Effect.onInterrupt(() => restore),
    Effect.ensuring(Effect.suspend(() => Effect.forEach(recorded, (group) => ledger.forget(group))))
  )
  const removed = yield* Effect.uninterruptible(restore)
  return resultOf(command, end, limit, capture.text(context.budget), removed)
})

const checkCommand = (command: string): Effect.Effect<void, ToolFailed> => {
  const problem =
    command.trim() === ""
      ? "is empty"
      : command.includes("\0")
        ? "holds a NUL character"
        : Buffer.byteLength(command) > MAX_COMMAND_BYTES
          ? `is longer than ${MAX_COMMAND_BYTES} bytes: write it into a script with write_file and run that`
          : null
  return problem === null ? Effect.void : Effect.fail(new ToolFailed({ message: `\`command\` ${problem}.` }))
}

const FIXED = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  EDITOR: "false",
  VISUAL: "false",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  GIT_TERMINAL_PROMPT: "0",
  CI: "1"
}

/** Nothing of this program's own environment but what a command needs, and what the settings name. */
const environmentOf = (tools: ToolSettings, sandboxed: boolean, marker: string): Record<string, string> => {
  const names = Object.keys(process.env).filter(
    (name) => name === "LANG" || name === "TZ" || name.startsWith("LC_") || tools.shell.env.includes(name)
  )
  const taken = Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""]))
  const home = sandboxed ? sandboxHome() : (process.env.HOME ?? sandboxHome())
  const [name, value] = marker.split("=") as [string, string]
  return { PATH: pathFolders().join(":"), HOME: home, ...FIXED, ...taken, [name]: value }
}

const resultOf = (
  command: string,
  end: ChildEnd,
  limit: number,
  output: string,
  removed: ReadonlyArray<string>
): ToolResult => {
  const time = `${(end.millis / 1000).toFixed(1)} s`
  const how = end.timedOut
    ? `Timed out after ${limit / 1000} s: the command and everything it started was killed.`
    : end.signal !== null
      ? `Killed by ${end.signal} after ${time}.`
      : `Exit code ${end.exitCode} after ${time}.`
  const notes = removed.map((path) => `[${path} was removed again: git's own settings cannot be changed]`)
  return {
    outcome: end.timedOut || end.signal !== null ? "error" : "ok",
    text: [how, output === "" ? "(no output)" : output, ...notes].join("\n"),
    changed: [command]
  }
}
