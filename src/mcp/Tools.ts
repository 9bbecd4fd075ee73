import { Array as Arr, Effect, Option } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import { RequestRefused } from "../domain/Problem.ts"
import type { Task } from "../domain/Task.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { Tasks } from "../task/Tasks.ts"
import { sentencesOf, ToolNotFound } from "./Refusals.ts"
import { notFoundText, statusText } from "./StatusText.ts"
import { AgentRunInput, AgentStatusInput, decodeArguments } from "./ToolInput.ts"

/** What a call came to: one block of text, or a task that is on disk. */
export type ToolAnswer =
  | { readonly _tag: "Text"; readonly text: string; readonly isError: boolean }
  | { readonly _tag: "Accepted"; readonly task: Task }

/** The tools that a server offers. `call` takes a call's arguments as they came. */
export interface ToolSet {
  readonly definitions: ReadonlyArray<ToolDefinition>
  readonly call: (
    name: string,
    input: unknown,
    caller: Caller
  ) => Effect.Effect<ToolAnswer, ToolNotFound, Tasks | AppConfig>
}

/** The order of the members is the order on the wire. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: unknown }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly openWorldHint: boolean
  }
}

const agentRunDefinition: ToolDefinition = {
  name: "agent_run",
  description:
    "Accept a natural-language work request as a task. Returns at once; poll agent_status until it is completed, failed or cancelled.",
  inputSchema: {
    type: "object",
    properties: {
      request: { description: "Non-empty natural-language work request.", type: "string" },
      session_id: {
        description: "Existing session UUID, or omit to create a session.",
        type: ["string", "null"],
        format: "uuid",
        default: null
      },
      temperature: {
        description: "Task-scoped temperature from 0.0 through 2.0.",
        type: ["number", "null"],
        default: null
      },
      images: {
        description: "Optional PNG, JPEG, or WebP images.",
        type: ["array", "null"],
        items: {
          type: ["object", "null"],
          properties: { mime_type: { type: ["string", "null"] }, data_base64: { type: ["string", "null"] } },
          required: ["mime_type", "data_base64"],
          additionalProperties: false
        },
        default: null
      }
    },
    required: ["request"],
    additionalProperties: false
  },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false }
}

const agentStatusDefinition: ToolDefinition = {
  name: "agent_status",
  description: "Report a task's state, progress, token usage and result.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: { description: "Task UUID returned by agent_run.", type: "string", format: "uuid" },
      session_id: {
        description: "Optional session UUID used to verify task ownership.",
        type: ["string", "null"],
        format: "uuid",
        default: null
      }
    },
    required: ["task_id"],
    additionalProperties: false
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false }
}

// untraced: measured, making a span costs a call more than reading its arguments
const agentRun = Effect.fnUntraced(
  function* (input: unknown, caller: Caller) {
    const { mcp } = yield* AppConfig
    const tasks = yield* Tasks
    const { value, problems } = decodeArguments(AgentRunInput, { request: "-" }, input, mcp.ignoredArguments)
    const task = yield* tasks.submit({
      request: value.request,
      sessionId: value.session_id,
      temperature: value.temperature,
      images: (value.images ?? []).map((image) => ({ mimeType: image.mime_type, dataBase64: image.data_base64 })),
      caller,
      problems
    })
    return { _tag: "Accepted", task } satisfies ToolAnswer
  },
  Effect.catchAll((error) => toolError(error))
)

const agentStatus = Effect.fnUntraced(
  function* (input: unknown, caller: Caller) {
    const { locale, mcp } = yield* AppConfig
    const tasks = yield* Tasks
    const { value, problems } = decodeArguments(AgentStatusInput, { task_id: noTask }, input, mcp.ignoredArguments)
    if (Arr.isNonEmptyReadonlyArray(problems)) {
      const refusal = new RequestRefused({ problems })
      yield* tasks.refused(refusal, caller)
      return yield* refusal
    }
    const session = value.session_id?.toLowerCase()
    const task = Option.filter(
      yield* tasks.get(value.task_id.toLowerCase(), caller),
      (task) => session === undefined || task.sessionId === session
    )
    const text = Option.match(task, {
      onNone: () => notFoundText(value.task_id, locale),
      onSome: (task) => statusText(task, locale)
    })
    return { _tag: "Text", text, isError: false } satisfies ToolAnswer
  },
  Effect.catchAll((error) => toolError(error))
)

const noTask = "00000000-0000-0000-0000-000000000000"

const toolError = (error: RequestRefused | StoreFailed) =>
  Effect.gen(function* () {
    const text = sentencesOf(error, (yield* AppConfig).locale)
    if (error._tag === "StoreFailed") yield* Effect.logError(text, error)
    return { _tag: "Text", text, isError: true } satisfies ToolAnswer
  })

/** The two tools of this program. */
export const agentTools: ToolSet = {
  definitions: [agentRunDefinition, agentStatusDefinition],
  call: (name, input, caller) => {
    switch (name) {
      case agentRunDefinition.name:
        return agentRun(input, caller)
      case agentStatusDefinition.name:
        return agentStatus(input, caller)
      default:
        return new ToolNotFound({ name })
    }
  }
}
