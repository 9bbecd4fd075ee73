import { Context, type Effect } from "effect"
import type { OllamaError } from "./OllamaError.ts"
import type { ChatReply, ChatRequest, ModelInfo, RunningModel } from "./OllamaSchema.ts"

/** A piece of the answer as it arrives. */
export interface ChatDelta {
  readonly content: string
  readonly thinking: string
}

/**
 * Ollama's HTTP API. `baseUrl` is given with each call, since a task keeps the server that it was accepted with.
 * Interrupting a call closes its socket, before headers, in mid-stream and in a back-off.
 */
export class OllamaClient extends Context.Tag("sagyo/ollama/OllamaClient")<
  OllamaClient,
  {
    /** One streamed turn, retried with a back-off for at most 30 seconds where the failure may pass. */
    readonly chat: (
      baseUrl: string,
      request: ChatRequest,
      onDelta?: (delta: ChatDelta) => Effect.Effect<void>
    ) => Effect.Effect<ChatReply, OllamaError>
    readonly show: (baseUrl: string, model: string) => Effect.Effect<ModelInfo, OllamaError>
    readonly tags: (
      baseUrl: string
    ) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly size: number }>, OllamaError>
    readonly ps: (baseUrl: string) => Effect.Effect<ReadonlyArray<RunningModel>, OllamaError>
    readonly version: (baseUrl: string) => Effect.Effect<string, OllamaError>
  }
>() {}
