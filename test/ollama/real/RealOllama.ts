import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { connect, createServer, type Socket } from "node:net"
import { Effect, type Scope } from "effect"
import type { ChatRequest } from "../../../src/ollama/OllamaSchema.ts"

const host = process.env.OLLAMA_HOST ?? ""

/** The real server, and its model that has tools. */
export const realUrl = (/^https?:\/\//.test(host) ? host : `http://${host}`).replace(/\/$/, "")
export const realModel = process.env.SAGYO_MODEL ?? ""

export const readFileTool = {
  type: "function",
  function: {
    name: "read_file",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
  }
} as const

export const ask = (content: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: realModel,
  messages: [{ role: "user", content }],
  options: { num_ctx: 2048, temperature: 0 },
  keepAlive: 600_000,
  ...more
})

/** A door in front of the real server that tells when a request has gone through it and when its client left. */
export interface Door {
  readonly url: string
  readonly passed: Promise<void>
  readonly left: Promise<void>
}

export const door: Effect.Effect<Door, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const { hostname, port } = new URL(realUrl)
    const sockets: Array<Socket> = []
    const server = createServer((socket) => {
      const upstream = connect(Number(port || 80), hostname)
      sockets.push(socket, upstream)
      for (const each of [socket, upstream]) each.on("error", () => undefined)
      socket.pipe(upstream).pipe(socket)
      socket.once("data", () => server.emit("passed"))
      socket.once("close", () => server.emit("left"))
      upstream.once("close", () => socket.destroy())
      socket.once("close", () => upstream.destroy())
    })
    const passed = once(server, "passed").then(() => undefined)
    const left = once(server, "left").then(() => undefined)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url, passed, left, server, sockets }
  }),
  ({ server, sockets }) =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
)
