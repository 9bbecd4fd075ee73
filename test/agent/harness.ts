import { Context, Effect, Either, Layer } from "effect"
import { AgentLoop } from "../../src/agent/AgentLoop.ts"
import type { ImageRef } from "../../src/domain/Image.ts"
import type { TaskSettings } from "../../src/domain/Settings.ts"
import type { RunnableTask } from "../../src/domain/Task.ts"
import { OllamaClient } from "../../src/ollama/OllamaClient.ts"
import type { ChatMessage, ToolDefinition } from "../../src/ollama/OllamaSchema.ts"
import type { ScriptEntry, ScriptedOllamaOptions } from "../../src/ollama/ScriptedOllama.ts"
import { ToolBox, type ToolOffer, type ToolResult } from "../../src/tools/ToolBox.ts"
import { MemoryRepos } from "../support/MemoryRepos.ts"
import { scriptedOllama } from "../support/ScriptedOllama.ts"
import { testSettings } from "../support/TestSettings.ts"

const definition = (name: string, properties: Record<string, { readonly type: string }>): ToolDefinition => ({
  type: "function",
  function: { name, description: `${name} of the tests`, parameters: { type: "object", properties } }
})

const text = { type: "string" }

/** What the tests' tool box offers. */
export const definitions = [
  definition("read_file", { path: text, offset: { type: "integer" } }),
  definition("list_files", { path: text }),
  definition("write_file", { path: text, content: text }),
  definition("shell", { command: text })
]

export type Handler = (name: string, args: Readonly<Record<string, unknown>>) => Effect.Effect<ToolResult> | string

export const ok = (text: string, changed: ReadonlyArray<string> = []): ToolResult => ({ outcome: "ok", text, changed })

/** A tool box that notes each call and lets `handler` answer it; a text is a good result. */
const fakeTools = (calls: Array<unknown>, handler: Handler, withheld: ToolOffer["withheld"]) =>
  Layer.succeed(ToolBox, {
    offer: () => Effect.succeed({ definitions, withheld }),
    subject: (name, args) => `${name} ${String(args.path ?? args.command ?? "")}`.trim(),
    call: (_, name, args) =>
      Effect.suspend(() => {
        calls.push({ name, args })
        if (!definitions.some((each) => each.function.name === name)) {
          const names = definitions.map((each) => each.function.name).join(", ")
          return Effect.succeed<ToolResult>({
            outcome: "error",
            text: `There is no tool ${JSON.stringify(name)}. The tools are: ${names}.`,
            changed: []
          })
        }
        const result = handler(name, args)
        return typeof result === "string" ? Effect.succeed(ok(result)) : result
      })
  })

export interface HarnessOptions extends ScriptedOllamaOptions {
  readonly handler?: Handler
  readonly withheld?: ToolOffer["withheld"]
  readonly settings?: (defaults: TaskSettings) => TaskSettings
}

/** The real loop and the real client against a scripted model, with tools and a store in memory. */
export const harness = (script: ReadonlyArray<ScriptEntry>, options: HarnessOptions = {}) =>
  Effect.gen(function* () {
    const server = yield* scriptedOllama(script, options)
    const store = new MemoryRepos()
    const calls: Array<{ readonly name: string; readonly args: Readonly<Record<string, unknown>> }> = []
    const context = yield* Layer.build(
      AgentLoop.layer.pipe(
        Layer.provide([
          OllamaClient.layer,
          fakeTools(calls, options.handler ?? ((name) => `result of ${name}`), options.withheld ?? []),
          store.layer
        ])
      )
    )
    const defaults = testSettings().task
    const settings: TaskSettings = {
      ...defaults,
      locale: "en",
      ollama: { ...defaults.ollama, baseUrl: server.url, model: server.models[0]!.name }
    }
    const agent = Context.get(context, AgentLoop)
    const accept = (request = "Do it", images: ReadonlyArray<ImageRef> = []) =>
      store.accept(request, options.settings?.(settings) ?? settings, images)
    const run = (task: RunnableTask) => agent.run(task)
    return {
      server,
      store,
      calls,
      accept,
      run,
      /** The answer to a new request. */
      answer: (request?: string, images?: ReadonlyArray<ImageRef>) => run(accept(request, images)),
      /** Why a new request failed. */
      failure: (request?: string, images?: ReadonlyArray<ImageRef>) =>
        run(accept(request, images)).pipe(
          Effect.either,
          Effect.map((result) => {
            if (Either.isRight(result)) throw new Error(`completed with ${result.right}`)
            if (result.left._tag !== "AgentFailed") throw result.left
            return result.left.reason
          })
        ),
      /** The messages of each chat, in order. */
      prompts: (): ReadonlyArray<ReadonlyArray<ChatMessage>> => server.requests.map(({ body }) => body.messages)
    }
  })
