import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Schedule } from "effect"
import type { TaskSettings, ToolSettings } from "../../src/domain/Settings.ts"
import { TaskId } from "../../src/domain/Task.ts"
import { Approver } from "../../src/tools/Approval.ts"
import { ProcessLedger } from "../../src/tools/ProcessLedger.ts"
import { Sandbox } from "../../src/tools/Sandbox.ts"
import { ToolBox, type ToolEnvironment } from "../../src/tools/ToolBox.ts"

export const TASK = TaskId.make("9ab4a40b-86fe-432a-904f-8e429c01ea8b")

type ShellSettings = ToolSettings["shell"]

export const settingsFor = (
  workspace: string,
  tools: Partial<Omit<ToolSettings, "shell">> = {},
  shell: Partial<ShellSettings> = {}
): TaskSettings => ({
  locale: "en",
  workspace,
  hidden: [],
  ollama: {
    baseUrl: "http://127.0.0.1:1",
    model: "m",
    temperature: null,
    numCtx: 16384,
    keepAlive: 0,
    think: "auto",
    allowRemote: false
  },
  agent: { planning: "off", maxTurns: 50, maxDuration: 60_000, maxTokens: null, onRestart: "resume" },
  tools: {
    approval: "never",
    approvalTimeout: 1000,
    rules: [],
    ...tools,
    shell: { enabled: true, sandbox: "off", network: false, timeout: 60_000, env: [], ...shell }
  }
})

/** A folder for one test; its real path. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "sagyo-tools-")))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

export const layer = ToolBox.layer.pipe(
  Layer.provide(Sandbox.layer),
  Layer.provide(Approver.nobody),
  Layer.provide(ProcessLedger.none)
)

/** The tools on a folder, called as the agent calls them. */
export const toolsOn = (
  workspace: string,
  tools: Partial<Omit<ToolSettings, "shell">> = {},
  shell: Partial<ShellSettings> = {}
) =>
  Effect.map(ToolBox, (box) => {
    const environment: ToolEnvironment = { taskId: TASK, settings: settingsFor(workspace, tools, shell) }
    return {
      environment,
      box,
      call: (name: string, args: Readonly<Record<string, unknown>>) => box.call(environment, name, args)
    }
  })

/** Waits until something holds; fails after ten seconds. */
export const until = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.repeat({ until: (yes) => yes, schedule: Schedule.spaced("5 millis") }),
    Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => new Error("it never came about") }),
    Effect.orDie
  )

/** Whether a process with this id exists and is not a corpse. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")
