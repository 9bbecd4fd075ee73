import { Effect } from "effect"
import { type ChatDelta, OllamaClient } from "../../src/ollama/OllamaClient.ts"
import type { ChatRequest } from "../../src/ollama/OllamaSchema.ts"
import type { ScriptedOllama } from "./ScriptedOllama.ts"

/** A small sound request for the model that a scripted server has by default. */
export const chatRequest: ChatRequest = {
  model: "scripted",
  messages: [{ role: "user", content: "hi" }],
  options: { num_ctx: 4096 },
  keepAlive: 600_000
}

/** One chat with a scripted server. */
export const chat = (
  server: ScriptedOllama,
  request: Partial<ChatRequest> = {},
  onDelta?: (delta: ChatDelta) => Effect.Effect<void>
) => Effect.flatMap(OllamaClient, (client) => client.chat(server.url, { ...chatRequest, ...request }, onDelta))
