import type { IncomingMessage, ServerResponse } from "node:http"
import {
  type AuthInfo,
  classifyInboundRequest,
  createMcpHandler,
  type McpRequestContext
} from "@modelcontextprotocol/server"
import { Cause, Effect } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import { Tasks } from "../task/Tasks.ts"
import { acceptedBy, writeAnswer, writeJson, writeRefusal, writeStream } from "./HttpAnswer.ts"
import type { Authenticate } from "./HttpAuth.ts"
import { makeBodyReader } from "./HttpBody.ts"
import { checkHead, checkSite, type GuardPolicy, routeOf } from "./HttpGuards.ts"
import { HttpRefused, refused } from "./HttpRefused.ts"
import { ErrorCode, errorReply, type Message, readMessage } from "./JsonRpc.ts"
import { type ServerParts, serverFactory } from "./McpServer.ts"
import { isTaskListen, makeTaskSubscriptions, refusalReply, type TaskListen } from "./TaskSubscriptions.ts"
import type { ToolSet } from "./Tools.ts"
import { modernVersion } from "./Versions.ts"

/** The exchanges of one HTTP server. */
export interface HttpExchanges {
  /** Answers a request. Ends when the answer has been handed over, or the client is gone. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Effect.Effect<void, never, Tasks | AppConfig>
  /** Ends the subscriptions, and takes no further request. */
  readonly end: Effect.Effect<void>
}

export const makeHttpExchanges = (
  tools: ToolSet,
  policy: GuardPolicy,
  authenticate: Authenticate,
  run: ServerParts["run"],
  onerror: (error: Error) => void
): Effect.Effect<HttpExchanges> =>
  Effect.gen(function* () {
    const mcp = createMcpHandler(serverFactory({ tools, callerOf, run }), {
      maxRequestBodySize: policy.limit,
      onerror
    })
    const subscriptions = yield* makeTaskSubscriptions
    const bodies = makeBodyReader(policy.limit)
    let ending = false

    const fetch = (request: IncomingMessage, response: ServerResponse, message: Message, caller: Caller) =>
      Effect.gen(function* () {
        const gone = new AbortController()
        response.once("close", () => gone.abort())
        const asked = new Request("http://localhost/mcp", {
          method: "POST",
          headers: headersOf(request),
          signal: gone.signal
        })
        const answer = yield* Effect.promise(() =>
          mcp.fetch(asked, { parsedBody: message, authInfo: authInfoOf(caller) })
        )
        yield* writeAnswer(response, answer, acceptedBy(request.headers.accept))
      })

    const listen = (request: IncomingMessage, response: ServerResponse, message: TaskListen, caller: Caller) =>
      subscriptions.open(message, caller).pipe(
        Effect.flatMap((messages) => writeStream(response, messages, acceptedBy(request.headers.accept))),
        Effect.catchAll((error) =>
          Effect.map(AppConfig, (settings) =>
            writeJson(response, error._tag === "TasksUndeclared" ? 400 : 200, refusalReply(error, message.id, settings))
          )
        )
      )

    const answer = Effect.fnUntraced(function* (request: IncomingMessage, response: ServerResponse) {
      if (ending) return yield* refused(503, "The server is shutting down", { connection: "close" })
      yield* orRefuse(checkSite(request, policy))
      const route = routeOf(request, policy)
      if (route === "healthz") return yield* health(request, response, Effect.succeed(true))
      if (route === "readyz") return yield* health(request, response, ready)
      const caller = yield* authenticate(request.headers.authorization)
      if (route === "unknown") return yield* refused(404, "Not found")
      yield* orRefuse(checkHead(request, policy))
      if (/^100-continue$/i.test(request.headers.expect ?? "")) response.writeContinue()
      const incoming = yield* bodies.read(request, (body) => Effect.sync(() => readMessage(body)))
      switch (incoming._tag) {
        case "Refused":
          return yield* new HttpRefused({ status: 400, reply: incoming.reply, headers: {} })
        case "Unanswerable":
          return yield* refused(400, `Invalid request: ${incoming.why}`, {}, ErrorCode.invalidRequest)
        case "Message":
          return yield* isOurListen(request, incoming.message)
            ? listen(request, response, incoming.message, caller)
            : fetch(request, response, incoming.message, caller)
      }
    })

    return {
      serve: (request, response) => {
        response.on("error", () => {})
        return answer(request, response).pipe(
          Effect.catchTags({
            HttpRefused: (refusal) => Effect.sync(() => writeRefusal(request, response, refusal)),
            ClientGone: () => Effect.void
          }),
          Effect.catchAllDefect((defect) =>
            Effect.logError("an HTTP request died", Cause.die(defect)).pipe(
              Effect.zipRight(Effect.sync(() => writeRefusal(request, response, died)))
            )
          ),
          Effect.zipRight(handedOver(response))
        )
      },
      end: Effect.suspend(() => {
        ending = true
        return subscriptions.end
      })
    }
  })

const died = new HttpRefused({
  status: 500,
  reply: errorReply(ErrorCode.internal, "Internal error"),
  headers: { connection: "close" }
})

const orRefuse = (refusal: HttpRefused | undefined): Effect.Effect<void, HttpRefused> => refusal ?? Effect.void

const health = (
  request: IncomingMessage,
  response: ServerResponse,
  check: Effect.Effect<boolean, never, Tasks>
): Effect.Effect<void, HttpRefused, Tasks> =>
  request.method === "GET" || request.method === "HEAD"
    ? Effect.map(check, (ok) => writeJson(response, ok ? 200 : 503, { ok }))
    : refused(405, "Method not allowed", { allow: "GET, HEAD" })

/** Ready is who can read the store. */
const ready = Effect.flatMap(Tasks, (tasks) => tasks.list({ limit: 1 }, { token: null, via: "http" })).pipe(
  Effect.match({ onFailure: () => false, onSuccess: () => true })
)

/** The headers that mean something to the protocol. A session id or an event id of a client means nothing here. */
const headersOf = (request: IncomingMessage): Headers => {
  // Every client is served, whatever it accepts: the form of the answer is decided when it is written.
  const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" })
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith("mcp-") && name !== "mcp-session-id") headers.set(name, String(value))
  }
  return headers
}

/** Only what the SDK, too, would serve; what is wrong with the rest is for the SDK to say. */
const isOurListen = (request: IncomingMessage, message: Message): message is TaskListen => {
  if (!isTaskListen(message)) return false
  const version = header(request, "mcp-protocol-version")
  const method = header(request, "mcp-method")
  if (version !== modernVersion || method !== message.method) return false
  const classified = classifyInboundRequest({
    httpMethod: "POST",
    body: message,
    protocolVersionHeader: version,
    mcpMethodHeader: method
  })
  return classified.kind === "modern" && classified.classification.revision === modernVersion
}

const header = (request: IncomingMessage, name: string): string => String(request.headers[name] ?? "").trim()

const authInfoOf = (caller: Caller): AuthInfo => ({
  token: "",
  clientId: caller.token ?? "owner",
  scopes: [],
  extra: { caller }
})

const callerOf = ({ authInfo }: McpRequestContext): Caller => {
  if (authInfo?.extra === undefined) throw new Error("a request came without its caller")
  return authInfo.extra.caller as Caller
}

const handedOver = (response: ServerResponse): Effect.Effect<void> =>
  Effect.async((resume) => {
    const onClose = () => resume(Effect.void)
    if (response.closed || response.writableFinished) return resume(Effect.void)
    response.once("close", onClose)
    return Effect.sync(() => response.off("close", onClose))
  })
