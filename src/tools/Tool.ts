import { Effect } from "effect"
import type { TaskSettings } from "../domain/Settings.ts"
import type { ToolDefinition } from "../ollama/OllamaSchema.ts"
import { type Arguments, jsonSchema, type Parameters, readArguments } from "./Parameters.ts"
import { plainLine } from "./PlainText.ts"
import type { ToolEnvironment, ToolResult } from "./ToolBox.ts"
import type { ToolFailed } from "./ToolFailed.ts"
import type { Workspace } from "./Workspace.ts"

/** What a running call works with. `budget` bounds its text, in bytes. */
export interface ToolContext {
  readonly environment: ToolEnvironment
  readonly workspace: Workspace
  readonly budget: number
}

/** A call whose arguments were read: what rules may look at, and the work. */
export interface PreparedCall {
  readonly path?: string
  readonly command?: string
  readonly run: (context: ToolContext) => Effect.Effect<ToolResult, ToolFailed>
}

/** A tool as the tool box holds it. */
export interface Tool {
  readonly name: string
  readonly definition: ToolDefinition
  /** Whether it changes things, and so needs approval where `tools.approval` is `dangerous`. */
  readonly dangerous: boolean
  readonly subject: (args: Readonly<Record<string, unknown>>) => string
  readonly prepare: (args: Readonly<Record<string, unknown>>) => Effect.Effect<PreparedCall, ToolFailed>
}

interface ToolForm<P extends Parameters> {
  readonly name: string
  readonly description: string
  readonly parameters: P
  readonly dangerous: boolean
  /** The parameters that say what a call works on, in the order shown; never one that holds content. */
  readonly subject: ReadonlyArray<keyof P & string>
  readonly path?: (args: Arguments<P>) => string
  readonly command?: (args: Arguments<P>) => string
  readonly run: (args: Arguments<P>, context: ToolContext) => Effect.Effect<ToolResult, ToolFailed>
}

export const makeTool = <const P extends Parameters>(form: ToolForm<P>): Tool => ({
  name: form.name,
  dangerous: form.dangerous,
  definition: {
    type: "function",
    function: { name: form.name, description: form.description, parameters: jsonSchema(form.parameters) }
  },
  subject: (args) =>
    form.subject
      .flatMap((name) =>
        Object.hasOwn(args, name) && typeof args[name] === "string" ? [plainLine(args[name], 200)] : []
      )
      .join(" ")
      .trim(),
  prepare: (args) =>
    Effect.map(readArguments(form.name, form.parameters, args), (read) => ({
      ...(form.path && { path: form.path(read) }),
      ...(form.command && { command: form.command(read) }),
      run: (context) => form.run(read, context)
    }))
})

/** What one result may fill: about a quarter of the context, at some three bytes a token. */
export const textBudget = (settings: TaskSettings): number =>
  Math.min(32_768, Math.max(4_096, Math.floor(settings.ollama.numCtx * 0.75)))

export const done = (text: string, changed: ReadonlyArray<string> = []): ToolResult => ({
  outcome: "ok",
  text,
  changed
})
