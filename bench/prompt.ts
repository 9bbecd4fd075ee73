import type { ScriptedOllama } from "../src/ollama/ScriptedOllama.ts"
import { StdioChild } from "./Child.ts"
import type { Programs } from "./Programs.ts"
import type { Row } from "./Row.ts"

/** The system prompt and all tool definitions, as the model's server gets them. */
export const prompt = async (programs: Programs, ollama: ScriptedOllama): Promise<ReadonlyArray<Row>> => {
  const server = new StdioChild(programs.own("stdio", ollama.url))
  const next = ollama.requests.length
  await server.call({ name: "agent_run", arguments: { request: "Read a file." } })
  const { body } = await ollama.received(next)
  await server.stop()
  const system = body.messages.filter(({ role }) => role === "system")
  const bytes = Buffer.byteLength(JSON.stringify(system)) + Buffer.byteLength(JSON.stringify(body.tools ?? []))
  const what = `system prompt and ${body.tools?.length ?? 0} tool definitions`
  return [{ what, unit: "bytes", own: bytes, bare: null, ratio: null, aim: "≤ 4800 bytes" }]
}
