import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, FiberSet, Runtime, type Scope } from "effect"
import { AppConfig, type HttpSettings } from "../config/AppConfig.ts"
import { isLoopback } from "../config/Network.ts"
import type { Bilingual } from "../domain/Settings.ts"
import type { Tasks } from "../task/Tasks.ts"
import { makeAuthenticate } from "./HttpAuth.ts"
import { answerBrokenRequests } from "./HttpBroken.ts"
import { type HttpExchanges, makeHttpExchanges } from "./HttpExchange.ts"
import { guardPolicy, hostName } from "./HttpGuards.ts"
import { HttpListenFailed, HttpUnguarded } from "./HttpUnusable.ts"
import { openServers } from "./McpServer.ts"
import { messageLimit } from "./MessageLimit.ts"
import { agentTools, type ToolSet } from "./Tools.ts"

/** Where MCP is served. */
export interface Listening {
  readonly url: string
  readonly port: number
}

/**
 * Milliseconds that a client may take for its headers, for a whole request, between two requests, and without
 * reading or writing a byte while its answer is being sent; and how often these are looked at.
 */
const timeouts = { headers: 15_000, request: 300_000, betweenRequests: 75_000, silence: 120_000, checked: 1000 }

/** Whoever opens connections without end does not fill the log as well; in milliseconds. */
const dropsLoggedEvery = 10_000

/** How long the end waits for answers that are being worked out. */
const lastAnswers = "5 seconds"

/**
 * Serves tools over HTTP for the life of the scope. Its end takes no further connection, ends subscriptions,
 * finishes the answers that are being worked out, closes every socket and frees the port.
 */
export const serveTools = (
  tools: ToolSet
): Effect.Effect<Listening, HttpListenFailed | HttpUnguarded, Tasks | AppConfig | Scope.Scope> =>
  Effect.gen(function* () {
    const settings = yield* AppConfig
    const { http, images } = settings.mcp
    yield* checkAllowed(http)
    const authenticate = yield* makeAuthenticate(settings)
    const run = yield* FiberSet.makeRuntimePromise<Tasks | AppConfig>()
    const running = yield* FiberSet.make<void>()
    const runExchange = yield* FiberSet.runtime(running)<Tasks | AppConfig>()
    const log = Runtime.runFork(yield* Effect.runtime())

    const server = createServer({
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      keepAliveTimeout: timeouts.betweenRequests,
      connectionsCheckingInterval: timeouts.checked,
      requireHostHeader: false
    })
    server.setTimeout(timeouts.silence)
    server.maxConnections = http.maxConnections
    let quietUntil = 0
    server.on("drop", () => {
      server.closeIdleConnections()
      if (performance.now() < quietUntil) return
      quietUntil = performance.now() + dropsLoggedEvery
      log(Effect.logWarning("connections are dropped: mcp.http.max_connections are open"))
    })
    answerBrokenRequests(server)

    const servers = yield* openServers({
      tools,
      run,
      onerror: (error) => {
        log(Effect.logDebug("MCP", error.message))
      }
    })
    yield* Effect.acquireRelease(listen(server, http), () => closed(server))
    const { port } = server.address() as AddressInfo
    const policy = guardPolicy(http, port, messageLimit(images))
    const exchanges = yield* makeHttpExchanges(servers, policy, authenticate)
    for (const event of ["request", "checkContinue"]) {
      server.on(event, (request, response) => runExchange(exchanges.serve(request, response)))
    }
    yield* Effect.addFinalizer(() => finish(server, exchanges, running))
    return { url: `http://${hostName(http.host)}:${port}${http.basePath}/mcp`, port }
  }).pipe(Effect.withSpan("Http.serve"))

/** Serves this program's own tools. */
export const serve = serveTools(agentTools)

/** The settings are refused before it comes to this; nobody else may open the port either. */
const checkAllowed = ({ host, auth, allowRemote }: HttpSettings): Effect.Effect<void, HttpUnguarded> =>
  isLoopback(host) || (allowRemote && auth === "token")
    ? Effect.void
    : new HttpUnguarded({
        reason: {
          ja: `${host} はほかのマシンから接続できるアドレスです。mcp.http.allow_remote: true と auth: token が必要です。`,
          en: `${host} can be reached from other machines: that needs mcp.http.allow_remote: true and auth: token.`
        }
      })

const listen = (server: Server, { host, port }: HttpSettings): Effect.Effect<void, HttpListenFailed> =>
  Effect.async((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(new HttpListenFailed({ reason: listenReason(host, port, error) }))
    )
    server.listen({ host, port }, () => {
      server.removeAllListeners("error")
      server.on("error", () => {})
      resume(Effect.void)
    })
  })

const listenReason = (host: string, port: number, { code, message }: NodeJS.ErrnoException): Bilingual =>
  code === "EADDRINUSE"
    ? {
        ja: `ポート ${port} は使用中です。--port で別の番号を指定するか（0 なら空きポート）、使用中のプログラムを止めてください。`,
        en: `Port ${port} is in use. Give another one with --port (0 picks a free one), or stop the program that has it.`
      }
    : {
        ja: `${hostName(host)}:${port} で待ち受けできません（${message}）。--host と --port を確認してください。`,
        en: `Cannot listen on ${hostName(host)}:${port} (${message}). Check --host and --port.`
      }

/** Nothing new is let in, and what is under way has its time. */
const finish = (server: Server, exchanges: HttpExchanges, running: FiberSet.FiberSet<void>) =>
  Effect.sync(() => void server.close()).pipe(
    Effect.zipRight(exchanges.end),
    Effect.zipRight(FiberSet.awaitEmpty(running).pipe(Effect.interruptible, Effect.timeoutOption(lastAnswers)))
  )

const closed = (server: Server) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })
