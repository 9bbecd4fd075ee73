import { Context, Effect, Layer, Option } from "effect"
import type { Bilingual, TaskSettings } from "../domain/Settings.ts"
import type { TaskId } from "../domain/Task.ts"
import type { ToolOutcomeKind } from "../domain/ToolCall.ts"
import type { ToolDefinition } from "../ollama/OllamaSchema.ts"
import { Approver, approve } from "./Approval.ts"
import { EditFile } from "./EditFile.ts"
import { ListFiles } from "./ListFiles.ts"
import { editDistance } from "./NearestName.ts"
import { plainLine } from "./PlainText.ts"
import type { ProcessLedger } from "./ProcessLedger.ts"
import { ReadFile } from "./ReadFile.ts"
import { Sandbox } from "./Sandbox.ts"
import { SearchFiles } from "./SearchFiles.ts"
import { makeShell } from "./Shell.ts"
import { type PreparedCall, type Tool, textBudget } from "./Tool.ts"
import { ToolFailed } from "./ToolFailed.ts"
import { locate, openWorkspace, type Workspace } from "./Workspace.ts"
import { WriteFile } from "./WriteFile.ts"

/** For whom a tool works, and within which bounds. */
export interface ToolEnvironment {
  readonly taskId: TaskId
  readonly settings: TaskSettings
}

/** What came of a call. `text` goes to the model and is never empty; `changed` tells the user what was touched. */
export interface ToolResult {
  readonly outcome: ToolOutcomeKind
  readonly text: string
  readonly changed: ReadonlyArray<string>
}

/** The tools that a task may use, in a stable order, and those that it may not, with what mends that. */
export interface ToolOffer {
  readonly definitions: ReadonlyArray<ToolDefinition>
  readonly withheld: ReadonlyArray<{ readonly name: string; readonly reason: Bilingual }>
}

export class ToolBox extends Context.Tag("sagyo/tools/ToolBox")<
  ToolBox,
  {
    readonly offer: (environment: ToolEnvironment) => Effect.Effect<ToolOffer>
    /** `read_file src/a.ts`: the tool and what it works on, for `current_task`. */
    readonly subject: (name: string, args: Readonly<Record<string, unknown>>) => string
    /** Decodes, asks for approval, runs. Whatever goes wrong is an outcome; interruption ends every process of the call. */
    readonly call: (
      environment: ToolEnvironment,
      name: string,
      args: Readonly<Record<string, unknown>>
    ) => Effect.Effect<ToolResult>
  }
>() {
  static readonly layer: Layer.Layer<ToolBox, never, Sandbox | Approver | ProcessLedger> = Layer.effect(
    ToolBox,
    Effect.gen(function* () {
      const shell = yield* makeShell
      const tools = [ReadFile, ListFiles, SearchFiles, WriteFile, EditFile, shell]
      return yield* make(tools)
    })
  )
}

/** Above what any tool takes by its own limits: the last net. */
const FILE_CALL_LIMIT = "60 seconds"

const make = Effect.fn("ToolBox.make")(function* (tools: ReadonlyArray<Tool>) {
  const sandbox = yield* Sandbox
  const approver = yield* Approver
  const byName: ReadonlyMap<string, Tool> = new Map(tools.map((tool) => [tool.name, tool]))

  /** Why a tool is not offered; None where it is. */
  const withheld = (tool: Tool, { tools }: TaskSettings): Effect.Effect<Option.Option<Bilingual>> =>
    tool.name !== "shell"
      ? Effect.succeedNone
      : !tools.shell.enabled
        ? Effect.succeedSome(SHELL_DISABLED)
        : tools.shell.sandbox === "off"
          ? Effect.succeedNone
          : sandbox.problem

  const offer = Effect.fn("ToolBox.offer")(function* ({ settings }: ToolEnvironment) {
    const reasons = yield* Effect.forEach(tools, (tool) => withheld(tool, settings))
    return {
      definitions: tools.flatMap((tool, index) => (Option.isNone(reasons[index]!) ? [tool.definition] : [])),
      withheld: tools.flatMap((tool, index) =>
        Option.match(reasons[index]!, { onNone: () => [], onSome: (reason) => [{ name: tool.name, reason }] })
      )
    } satisfies ToolOffer
  })

  const subject = (name: string, args: Readonly<Record<string, unknown>>): string =>
    `${plainLine(name, 60)} ${byName.get(name)?.subject(args) ?? ""}`.trim()

  const run = Effect.fn("ToolBox.run")(function* (
    environment: ToolEnvironment,
    name: string,
    args: Readonly<Record<string, unknown>>
  ) {
    const { settings } = environment
    const tool = byName.get(name)
    if (tool === undefined) return yield* unknownTool(name, (yield* offer(environment)).definitions)
    const reason = yield* withheld(tool, settings)
    if (Option.isSome(reason)) return yield* new ToolFailed({ message: reason.value.en })
    const prepared = yield* tool.prepare(args)
    const workspace = yield* openWorkspace(settings)
    const denial = yield* permission(environment, tool, args, prepared, workspace)
    if (Option.isSome(denial)) return denied(name, denial.value)
    const work = prepared.run({ environment, workspace, budget: textBudget(settings) })
    return yield* tool.name === "shell" ? work : limited(work, name)
  })

  const permission = Effect.fn("ToolBox.permission")(function* (
    environment: ToolEnvironment,
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    prepared: PreparedCall,
    workspace: Workspace
  ) {
    const { path, command } = prepared
    const paths = path === undefined ? [] : [path.replace(/^(\.\/)+/, ""), (yield* locate(workspace, path)).shown]
    const target = { tool: tool.name, dangerous: tool.dangerous, paths, command: command ?? null }
    const request = { environment, tool: tool.name, subject: command ?? path ?? "", arguments: args }
    return yield* approve(approver, request, target)
  })

  const call = (
    environment: ToolEnvironment,
    name: string,
    args: Readonly<Record<string, unknown>>
  ): Effect.Effect<ToolResult> =>
    run(environment, name, args).pipe(
      Effect.catchTag("ToolFailed", ({ message }) => Effect.succeed(failed(message))),
      Effect.catchAllDefect((defect) =>
        Effect.logError("a tool broke down", defect).pipe(
          Effect.annotateLogs({ tool: plainLine(name, 60) }),
          Effect.as(failed(`${plainLine(name, 60)} broke down: ${plainLine(String(defect), 200)}. Try it another way.`))
        )
      ),
      Effect.map((result) => ({ ...result, text: result.text.replace(/\p{Surrogate}/gu, "\ufffd") }))
    )

  return { offer, subject, call }
})

const SHELL_DISABLED: Bilingual = {
  ja: "shell は agent.yaml の tools.shell.enabled: false で無効になっています。",
  en: "shell is switched off by tools.shell.enabled: false in agent.yaml."
}

const failed = (message: string): ToolResult => ({ outcome: "error", text: message, changed: [] })

const denied = (name: string, reason: string): ToolResult => ({
  outcome: "denied",
  text: `This call of ${name} was not allowed: ${reason}. Do not repeat it; go on another way or say what is missing.`,
  changed: []
})

const limited = (work: Effect.Effect<ToolResult, ToolFailed>, name: string) =>
  Effect.timeoutFail(work, {
    duration: FILE_CALL_LIMIT,
    onTimeout: () => new ToolFailed({ message: `${name} took too long and was ended.` })
  })

const unknownTool = (name: string, offered: ReadonlyArray<ToolDefinition>) => {
  const names = offered.map((definition) => definition.function.name)
  const wanted = name.slice(0, 60).toLowerCase()
  const near = names.find((known) => wanted.includes(known) || editDistance(wanted, known) <= 2)
  const hint = near === undefined ? "" : ` Did you mean ${near}?`
  return new ToolFailed({
    message: `There is no tool ${plainLine(name, 60) || "without a name"}.${hint} The tools are: ${names.join(", ")}.`
  })
}
