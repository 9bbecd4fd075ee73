import { isUtf8 } from "node:buffer"

export type JsonObject = Readonly<Record<string, unknown>>

export type RequestId = string | number

/** A request (it has an id) or a notification, whose shape both transports may trust. */
export interface Message {
  readonly jsonrpc: "2.0"
  readonly id?: RequestId
  readonly method: string
  readonly params?: { [name: string]: unknown }
}

export interface Request extends Message {
  readonly id: RequestId
}

export const isRequest = (message: Message): message is Request => message.id !== undefined

/** An error answer. It carries no id where the request's could not be read. */
export interface ErrorReply {
  readonly jsonrpc: "2.0"
  readonly id?: RequestId
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** What some bytes were: a message to serve, one to answer with an error, or one that wants no answer. */
export type Incoming =
  | { readonly _tag: "Message"; readonly message: Message }
  | Refused
  | { readonly _tag: "Unanswerable"; readonly why: string }

interface Refused {
  readonly _tag: "Refused"
  readonly reply: ErrorReply
}

export const ErrorCode = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** No code of the specification fits: an HTTP guard refused. */
  refused: -32000,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022
} as const

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value)

export const isRequestId = (value: unknown): value is RequestId =>
  typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value))

export const errorReply = (code: number, message: string, id?: RequestId, data?: unknown): ErrorReply => ({
  jsonrpc: "2.0",
  ...(id !== undefined && { id }),
  error: { code, message, ...(data !== undefined && { data }) }
})

/** Reads one message from UTF-8 bytes, with or without a BOM. */
export const readMessage = (bytes: Buffer): Incoming => {
  const parsed = parseJson(bytes)
  return parsed._tag === "Refused" ? parsed : checkShape(parsed.value)
}

const bom = "\uFEFF"

const parseJson = (bytes: Buffer): Refused | { readonly _tag: "Json"; readonly value: unknown } => {
  if (!isUtf8(bytes)) return refuse(ErrorCode.parse, "Parse error: the message is not valid UTF-8")
  const text = bytes.toString("utf8")
  try {
    const value: unknown = JSON.parse(text.startsWith(bom) ? text.slice(1) : text)
    return { _tag: "Json", value: escapedSurrogate.test(text) ? mendSurrogates(value) : value }
  } catch {
    return refuse(ErrorCode.parse, "Parse error: the message is not valid JSON")
  }
}

/** Only an escape can bring a lone surrogate in: valid UTF-8 has none. */
const escapedSurrogate = /\\u[dD][89a-fA-F]/

/** Puts U+FFFD in the place of each lone surrogate of the params' strings. Walks without recursion: JSON may be deep. */
const mendSurrogates = (root: unknown): unknown => {
  const open: Array<unknown> = isObject(root) ? [root.params] : []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === null || typeof next !== "object") continue
    const members = next as Record<string, unknown>
    for (const key of Object.keys(members)) {
      const member = members[key]
      if (typeof member === "string") members[key] = member.replace(/\p{Surrogate}/gu, "\uFFFD")
      else open.push(member)
    }
  }
  return root
}

/** Judges one parsed message: what the SDK would drop without a word is answered here. */
export const checkShape = (value: unknown): Incoming => {
  if (Array.isArray(value)) return refuse(ErrorCode.invalidRequest, "Invalid request: batches are not served")
  if (!isObject(value)) return refuse(ErrorCode.invalidRequest, "Invalid request: not a JSON-RPC message")
  const { id, method, params } = value
  const readableId = isRequestId(id) ? id : undefined
  const invalid = (why: string) => refuse(ErrorCode.invalidRequest, `Invalid request: ${why}`, readableId)
  if (value.jsonrpc !== "2.0") return invalid('jsonrpc must be "2.0"')
  if (!("method" in value)) {
    if ("result" in value || "error" in value) return { _tag: "Unanswerable", why: "a response to no request" }
    return invalid("it has no method")
  }
  const hasId = "id" in value
  if (hasId && readableId === undefined) return invalid("id must be a string or an integer that JSON holds exactly")
  if (typeof method !== "string") return invalid("method must be a string")
  if (params !== undefined && !isObject(params)) {
    return hasId ? invalid("params must be an object") : { _tag: "Unanswerable", why: "its params are no object" }
  }
  if (!isMeta(params?._meta)) {
    return hasId
      ? refuse(ErrorCode.invalidParams, "Invalid params: _meta has a wrong shape", readableId)
      : { _tag: "Unanswerable", why: "its _meta has a wrong shape" }
  }
  // Rebuilt without further members, since the SDK drops a message that has any.
  const message: Message = {
    jsonrpc: "2.0",
    ...(readableId !== undefined && { id: readableId }),
    method,
    ...(params !== undefined && { params })
  }
  return { _tag: "Message", message }
}

/** What of `_meta` JSON-RPC itself knows; the SDK drops a message in which it is anything else. */
const isMeta = (meta: unknown): boolean => {
  if (meta === undefined) return true
  if (!isObject(meta)) return false
  const { progressToken, "io.modelcontextprotocol/related-task": related } = meta
  return (
    (progressToken === undefined || isRequestId(progressToken)) &&
    (related === undefined || (isObject(related) && typeof related.taskId === "string"))
  )
}

const refuse = (code: number, message: string, id?: RequestId): Refused => ({
  _tag: "Refused",
  reply: errorReply(code, message, id)
})
