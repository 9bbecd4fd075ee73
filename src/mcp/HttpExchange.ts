import type { IncomingMessage, ServerResponse } from "node:http"
import { Cause, Effect, Either } from "effect"
import type { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import { Tasks } from "../task/Tasks.ts"
import { listenMethod } from "./Era.ts"
import { eraOf, type StandardHeaders } from "./EraOf.ts"
import { acceptedBy, writeAnswer, writeJson, writeRefusal, writeSubscription } from "./HttpAnswer.ts"
import type { Authenticate } from "./HttpAuth.ts"
import { makeBodyReader } from "./HttpBody.ts"
import { checkHead, checkSite, type GuardPolicy, routeOf } from "./HttpGuards.ts"
import { HttpRefused, refused } from "./HttpRefused.ts"
import { ErrorCode, errorReply, isRequest, type Message, type Request, readMessage } from "./JsonRpc.ts"
import type { Servers } from "./McpServer.ts"
import type { ServerChannel } from "./ServerChannel.ts"
import { makeTaskSubscriptions } from "./TaskSubscriptions.ts"

/** The exchanges of one HTTP server. */
export interface HttpExchanges {
  /** Answers a request. Ends when the answer has been handed over, or the client is gone. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Effect.Effect<void, never, Tasks | AppConfig>
  /** Ends the subscriptions, and takes no further request. */
  readonly end: Effect.Effect<void>
}

export const makeHttpExchanges = (
  servers: Servers,
  policy: GuardPolicy,
  authenticate: Authenticate
): Effect.Effect<HttpExchanges> =>
  Effect.gen(function* () {
    const subscriptions = yield* makeTaskSubscriptions
    const bodies = makeBodyReader(policy.limit)
    let ending = false

    const ask = (channel: ServerChannel, request: Request, caller: Caller) =>
      Effect.async<ReadonlyArray<object>>((resume) => {
        const heard: Array<object> = []
        channel.ask(request, caller, (message, isAnswer) => {
          heard.push(message)
          if (isAnswer) resume(Effect.succeed(heard))
        })
      })

    /** Notifications are accepted and forgotten: a server that remembers no client can do nothing else with them. */
    const serveMessage = Effect.fnUntraced(function* (
      request: IncomingMessage,
      response: ServerResponse,
      message: Message,
      caller: Caller
    ) {
      const era = yield* Either.mapLeft(
        eraOf(message, standardHeaders(request)),
        ({ status, reply }) => new HttpRefused({ status, reply, headers: {} })
      )
      const accepted = acceptedBy(request.headers.accept)
      if (!isRequest(message)) {
        response.writeHead(202, { "content-length": 0 })
        response.end()
      } else if (era === "modern" && message.method === listenMethod) {
        yield* writeSubscription(response, accepted, (tell) => subscriptions.serve(message, caller, tell))
      } else {
        writeAnswer(response, yield* ask(servers[era], message, caller), accepted, era)
      }
    })

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
          return yield* serveMessage(request, response, incoming.message, caller)
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

const standardHeaders = ({ headers }: IncomingMessage): StandardHeaders => ({
  protocolVersion: headers["mcp-protocol-version"]?.toString(),
  method: headers["mcp-method"]?.toString(),
  name: headers["mcp-name"]?.toString()
})

const handedOver = (response: ServerResponse): Effect.Effect<void> =>
  Effect.async((resume) => {
    const onClose = () => resume(Effect.void)
    if (response.closed || response.writableFinished) return resume(Effect.void)
    response.once("close", onClose)
    return Effect.sync(() => response.off("close", onClose))
  })
