import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect } from "effect"
import type { Era } from "./Era.ts"
import type { HttpRefused } from "./HttpRefused.ts"
import { ErrorCode, isObject } from "./JsonRpc.ts"
import type { SubscriptionRefused } from "./TaskSubscriptions.ts"

/** What a client takes, by its `Accept`; without one it takes everything. */
export interface Accepted {
  /** It would have JSON where there is a choice. */
  readonly json: boolean
  /** It named event streams itself. */
  readonly streams: boolean
  /** It would not refuse one. */
  readonly mayStream: boolean
}

export const acceptedBy = (accept: string | undefined): Accepted => {
  const types = new Set(
    (accept ?? "*/*")
      .toLowerCase()
      .split(",")
      .filter((range) => !/;\s*q=0(\.0*)?\s*(;|$)/.test(range))
      .map((range) => range.split(";", 1)[0]?.trim())
  )
  const all = types.has("*/*")
  return {
    json: all || types.has("application/json") || types.has("application/*"),
    streams: types.has("text/event-stream"),
    mayStream: all || types.has("text/event-stream") || types.has("text/*")
  }
}

const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
}

/** For how long what a refused client still sends is read and dropped, so that it gets to see the answer. */
const lingering = 1000

/**
 * Writes a refusal. What is left of the request's body is not waited for: the connection is closed. First the rest
 * is dropped for a while, since closing on data that nobody has read would take the answer away from the client.
 */
export const writeRefusal = (request: IncomingMessage, response: ServerResponse, refusal: HttpRefused): void => {
  if (response.headersSent || response.destroyed) return
  const body = Buffer.from(JSON.stringify(refusal.reply))
  const unread = !request.complete && hasBody(request)
  response.writeHead(refusal.status, {
    ...refusal.headers,
    ...(unread && { connection: "close" }),
    "content-type": "application/json",
    "content-length": body.length
  })
  if (!unread) {
    response.end(body)
    return
  }
  response.write(body)
  const end = () => {
    clearTimeout(timer)
    request.off("end", end).off("close", end)
    response.end(() => request.destroy())
  }
  const timer = setTimeout(end, lingering)
  request.on("end", end).on("close", end).resume()
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

export const writeJson = (response: ServerResponse, status: number, value: object): void => {
  if (response.headersSent || response.destroyed) return
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length })
  response.end(body)
}

/**
 * Writes what was heard of a request, the answer last, in the form that the client takes: several messages as a
 * stream where it may be.
 */
export const writeAnswer = (
  response: ServerResponse,
  heard: ReadonlyArray<object>,
  { json, streams, mayStream }: Accepted,
  era: Era
): void => {
  if (response.headersSent || response.destroyed) return
  const answer = heard.at(-1) ?? {}
  const asStream = heard.length > 1 ? mayStream : streams && !json
  const body = asStream ? heard.map((message) => event(JSON.stringify(message))).join("") : JSON.stringify(answer)
  response.writeHead(era === "legacy" ? 200 : statusOf(answer), {
    ...(asStream ? streamHeaders : { "content-type": "application/json" }),
    "content-length": Buffer.byteLength(body)
  })
  response.end(body)
}

/**
 * Errors are answers like others, but for two that what stands between is to see. Clients of the `initialize` era
 * take another status than 200 for a broken transport.
 */
const statusOf = (answer: object): number => {
  const code = "error" in answer && isObject(answer.error) ? answer.error.code : undefined
  if (code === ErrorCode.methodNotFound) return 404
  return code === ErrorCode.missingCapability ? 400 : 200
}

/**
 * Writes a subscription's messages as they come, no faster than they are read, with a comment now and then. A client
 * that takes no stream gets the last one when all is over.
 */
export const writeSubscription = <R>(
  response: ServerResponse,
  accepted: Accepted,
  serve: (tell: (message: object) => Effect.Effect<void>) => Effect.Effect<void, SubscriptionRefused, R>
): Effect.Effect<void, never, R> => {
  let last: object = {}
  const tell = (message: object): Effect.Effect<void> =>
    Effect.suspend(() => {
      last = message
      if (!accepted.mayStream) return Effect.void
      if (!response.headersSent) response.writeHead(200, streamHeaders)
      return writeChunk(response, event(JSON.stringify(message)))
    })
  const keptAlive = Effect.forever(
    Effect.delay(
      Effect.sync(() => response.headersSent && response.write(": keep-alive\n\n")),
      keepAlive
    )
  )
  return serve(tell).pipe(
    Effect.catchTag("SubscriptionRefused", ({ reply }) =>
      response.headersSent ? tell(reply) : Effect.sync(() => writeAnswer(response, [reply], accepted, "modern"))
    ),
    Effect.zipRight(
      Effect.sync(() => {
        if (response.headersSent) response.end()
        else writeAnswer(response, [last], accepted, "modern")
      })
    ),
    Effect.raceFirst(keptAlive),
    Effect.raceFirst(gone(response))
  )
}

const keepAlive = "15 seconds"

const event = (message: string): string => `event: message\ndata: ${message}\n\n`

const writeChunk = (response: ServerResponse, text: string): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (response.write(text)) return resume(Effect.void)
    const onDrain = () => resume(Effect.void)
    response.once("drain", onDrain)
    return Effect.sync(() => response.off("drain", onDrain))
  })

/** Ends when the client does. */
const gone = (response: ServerResponse): Effect.Effect<void> =>
  Effect.async((resume) => {
    const onClose = () => resume(Effect.void)
    if (response.destroyed) return resume(Effect.void)
    response.once("close", onClose)
    return Effect.sync(() => response.off("close", onClose))
  })
