import { Context, type Effect } from "effect"
import type { Bilingual, TaskSettings } from "../domain/Settings.ts"
import type { TaskId } from "../domain/Task.ts"
import type { ToolOutcomeKind } from "../domain/ToolCall.ts"
import type { ToolDefinition } from "../ollama/OllamaSchema.ts"

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
>() {}
