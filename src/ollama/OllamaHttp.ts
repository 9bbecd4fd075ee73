import type * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Agent, type Dispatcher } from "@effect/platform-node/Undici"
import { Chunk, Effect, Layer, Stream } from "effect"
import { OllamaUnavailable, OllamaUnreachable } from "./OllamaError.ts"
import { serverText } from "./ServerText.ts"

/** How long a connection may take to be made. */
const CONNECT_TIMEOUT = 10_000

/**
 * A model may be silent for as long as it likes: before its headers while it loads or reads a long prompt,
 * and between records while a long call is put together. Every request has a connection of its own, so that
 * none meets one that the server has just closed.
 */
export const agentOptions = {
  pipelining: 0,
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { timeout: CONNECT_TIMEOUT, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 250 }
} as const satisfies Agent.Options

// NodeHttpClient sends a headers timeout of an hour with every request, which beats the agent's own
const withoutTimeouts: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)

const dispatcher = Layer.scoped(
  NodeHttpClient.Dispatcher,
  Effect.acquireRelease(
    Effect.sync(() => new Agent(agentOptions)),
    (agent) => Effect.promise(() => agent.destroy())
  ).pipe(Effect.map((agent) => agent.compose(withoutTimeouts)))
)

/** An HTTP client that waits without an end for headers and bodies, and ten seconds for a connection. */
export const ollamaHttp: Layer.Layer<HttpClient.HttpClient> = Layer.provide(
  NodeHttpClient.layerUndiciWithoutDispatcher,
  dispatcher
)

/** The body's text up to about `limit` bytes, and no more than is needed to get there. */
export const bodyText = (
  response: HttpClientResponse.HttpClientResponse,
  limit: number
): Effect.Effect<string, HttpClientError.HttpClientError> =>
  response.stream.pipe(
    Stream.runFoldWhile(
      { size: 0, parts: Chunk.empty<Uint8Array>() },
      (read) => read.size < limit,
      (read, part) => ({ size: read.size + part.length, parts: Chunk.append(read.parts, part) })
    ),
    Effect.map((read) => Buffer.concat(Chunk.toReadonlyArray(read.parts)).subarray(0, limit).toString("utf8"))
  )

/** No answer came: either nothing is there, or a server that is going away or coming up. */
export const noAnswer =
  (baseUrl: string) =>
  (error: HttpClientError.HttpClientError): Effect.Effect<never, OllamaUnreachable | OllamaUnavailable> => {
    const reason = transportReason(error)
    return Effect.fail(
      wasConnected(error.cause)
        ? new OllamaUnavailable({ status: null, message: `the connection was closed before an answer came: ${reason}` })
        : new OllamaUnreachable({ baseUrl: withoutPassword(baseUrl), reason })
    )
  }

/** The system's own words: the errors of several addresses are one AggregateError, whose own message is empty. */
export const transportReason = (error: HttpClientError.HttpClientError): string => {
  const { cause } = error
  const causes = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors : [cause]
  const words = causes.map((each) => {
    const { code, message } = fieldsOf(each)
    return code === "" || message.includes(code) ? message : `${message} (${code})`
  })
  return serverText(words.join("; ")) || error.reason
}

const CLOSED = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"])

const wasConnected = (cause: unknown): boolean => {
  const { code, syscall } = fieldsOf(cause)
  return CLOSED.has(code) || (code === "ETIMEDOUT" && syscall === "read")
}

const fieldsOf = (error: unknown): { readonly code: string; readonly message: string; readonly syscall: string } => {
  const { code, message, syscall } = (error ?? {}) as Readonly<Record<string, unknown>>
  return {
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? message : String(error ?? ""),
    syscall: typeof syscall === "string" ? syscall : ""
  }
}

const withoutPassword = (url: string): string => url.replace(/\/\/[^/@]*@/, "//")
