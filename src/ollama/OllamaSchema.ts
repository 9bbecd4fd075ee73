import type { TokenUsage } from "../domain/Task.ts"

/** A tool as Ollama is told of it. `parameters` is a JSON Schema object. */
export interface ToolDefinition {
  readonly type: "function"
  readonly function: { readonly name: string; readonly description: string; readonly parameters: unknown }
}

/** A message as `/api/chat` takes it; `images` are standard Base64. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string
  readonly thinking?: string
  readonly images?: ReadonlyArray<string>
  readonly tool_calls?: ReadonlyArray<{
    readonly function: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  }>
  readonly tool_name?: string
}

/** What is sent besides `stream: true`, `truncate: false` and `shift: false`, which are always sent. */
export interface ChatRequest {
  readonly model: string
  readonly messages: ReadonlyArray<ChatMessage>
  readonly tools?: ReadonlyArray<ToolDefinition>
  readonly format?: unknown
  readonly think?: boolean | "low" | "medium" | "high"
  readonly options: { readonly num_ctx: number; readonly temperature?: number }
  /** Milliseconds; -1 for ever. */
  readonly keepAlive: number
}

/** A call as the model wrote it: `arguments` may be anything. */
export interface RawToolCall {
  readonly name: string
  readonly arguments: unknown
}

/** A whole turn, put together from its records. A count that the server left out is null, not zero. */
export interface ChatReply {
  readonly content: string
  readonly thinking: string
  readonly toolCalls: ReadonlyArray<RawToolCall>
  readonly doneReason: string | null
  readonly promptTokens: number | null
  readonly outputTokens: number | null
  /** Milliseconds that the server spent on the prompt; small where its cache was reused. */
  readonly promptMillis: number | null
  /** What the server reported for attempts that broke off before this one, where it did. */
  readonly retriedUsage?: TokenUsage
}

/** From `/api/show`. `contextLength` is what the model was trained for; `remoteHost` is set where it runs in a cloud. */
export interface ModelInfo {
  readonly capabilities: ReadonlyArray<string>
  readonly contextLength: number | null
  readonly remoteHost: string | null
}

/** From `/api/ps`. `contextLength` is the context that was really given. */
export interface RunningModel {
  readonly name: string
  readonly contextLength: number | null
  readonly size: number | null
}
