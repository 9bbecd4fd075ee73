import { request as httpRequest, type IncomingHttpHeaders } from "node:http"
import { connect } from "node:net"
import { Effect, type Scope } from "effect"
import { AppConfig } from "../../src/config/AppConfig.ts"
import { serve } from "../../src/mcp/Http.ts"
import { ownerToken } from "../../src/mcp/HttpToken.ts"
import type { Tasks } from "../../src/task/Tasks.ts"
import type { Reply } from "./Talk.ts"

export interface HttpReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: Reply
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body?: string | Buffer
}

export interface HttpPeer {
  readonly url: string
  readonly port: number
  readonly token: string
  /** Sends what is given, and the token; a header that is given as undefined is left out. */
  readonly send: (asked: Asked) => Effect.Effect<HttpReply>
  /** Posts a message with the headers that its era asks for. */
  readonly post: (message: object, headers?: Asked["headers"]) => Effect.Effect<HttpReply>
  /** Writes bytes to a socket of its own, and gives all that comes back until it closes. */
  readonly raw: (...bytes: ReadonlyArray<string | Buffer>) => Effect.Effect<string>
}

/** A server on loopback in this process, with a client that checks nothing. */
export const openServer: Effect.Effect<HttpPeer, never, Tasks | AppConfig | Scope.Scope> = Effect.gen(function* () {
  const settings = yield* AppConfig
  const { url, port } = yield* Effect.orDie(serve)
  const { auth, basePath } = settings.mcp.http
  const token = auth === "none" ? "" : yield* Effect.orDie(ownerToken(settings.dataDir))
  const send: HttpPeer["send"] = (asked) => exchange(port, token, `${basePath}/mcp`, asked)
  return {
    url,
    port,
    token,
    send,
    post: (message, headers) =>
      send({ headers: { ...eraHeaders(message), ...headers }, body: JSON.stringify(message) }),
    raw: (...bytes) =>
      Effect.async<string>((resume) => {
        let text = ""
        const socket = connect(port, "127.0.0.1", () => {
          for (const part of bytes) socket.write(part)
        })
        socket
          .on("data", (part) => {
            text += part.toString("latin1")
          })
          .on("error", () => {})
          .on("close", () => resume(Effect.succeed(text)))
      })
  }
})

/** The headers that a client of the message's era sends. */
const eraHeaders = (message: object): Record<string, string> => {
  const { method, params } = message as { readonly method?: string; readonly params?: Record<string, unknown> }
  const meta = params?._meta as Record<string, unknown> | undefined
  const version = meta?.["io.modelcontextprotocol/protocolVersion"]
  const name = params?.name ?? params?.taskId
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(typeof version === "string" && {
      "mcp-protocol-version": version,
      "mcp-method": String(method),
      ...(typeof name === "string" && { "mcp-name": name })
    })
  }
}

const exchange = (port: number, token: string, path: string, asked: Asked) =>
  Effect.async<HttpReply>((resume) => {
    const given = { ...(token !== "" && { authorization: `Bearer ${token}` }), ...asked.headers }
    const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >
    const request = httpRequest(
      { host: "127.0.0.1", port, method: asked.method ?? "POST", path: asked.path ?? path, headers, agent: false },
      (response) => {
        const parts: Array<Buffer> = []
        response.on("data", (part: Buffer) => parts.push(part))
        response.on("error", () => {})
        response.on("close", () => {
          const text = Buffer.concat(parts).toString("utf8")
          const isJson = response.headers["content-type"]?.startsWith("application/json") === true
          resume(
            Effect.succeed({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: isJson ? JSON.parse(text) : undefined
            } as HttpReply)
          )
        })
      }
    )
    request.on("error", (error) => resume(Effect.die(error)))
    request.end(asked.body)
    return Effect.sync(() => request.destroy())
  })
