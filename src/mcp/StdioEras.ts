import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  type Transport
} from "@modelcontextprotocol/server"
import {
  ErrorCode,
  type ErrorReply,
  errorReply,
  isObject,
  isRequestId,
  type JsonObject,
  type Message,
  type RequestId,
  readMessage
} from "./JsonRpc.ts"
import { modernVersion } from "./Versions.ts"

/** Half a pipe: what one era's server reads and writes. */
export class EraChannel implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #write: (message: object) => void
  readonly #inFlight = new Map<RequestId, number>()
  #onIdle: () => void = () => {}

  constructor(write: (message: object) => void) {
    this.#write = write
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message)
    if (!("method" in message) && isRequestId(message.id)) this.#settle(message.id)
  }

  async close(): Promise<void> {
    this.onclose?.()
  }

  deliver(message: Message): void {
    // A subscription is answered when the server ends, and so not waited for.
    if (message.id !== undefined && message.method !== "subscriptions/listen") {
      this.#inFlight.set(message.id, (this.#inFlight.get(message.id) ?? 0) + 1)
    }
    // A request that was cancelled is not answered.
    const cancelled = message.method === "notifications/cancelled" ? message.params?.requestId : undefined
    this.onmessage?.(message as JSONRPCMessage)
    if (isRequestId(cancelled)) this.#settle(cancelled)
  }

  /** Calls back, maybe at once, when every request that came in has been answered. */
  whenIdle(callback: () => void): void {
    this.#onIdle = callback
    if (this.#inFlight.size === 0) callback()
  }

  #settle(id: RequestId): void {
    const open = this.#inFlight.get(id)
    if (open === undefined) return
    if (open > 1) this.#inFlight.set(id, open - 1)
    else this.#inFlight.delete(id)
    if (this.#inFlight.size === 0) this.#onIdle()
  }
}

/**
 * Splits a pipe by message: what names a protocol version in its `_meta` is modern, the rest is of the
 * `initialize` era. The SDK would give the whole pipe to the era of its first message. What neither
 * era's server would answer is answered here.
 */
export class StdioEras {
  readonly modern: EraChannel
  readonly legacy: EraChannel
  readonly #write: (message: object) => void
  readonly #take: (message: Message) => boolean

  /** What `take` takes of the modern messages does not reach the SDK. */
  constructor(write: (message: object) => void, take: (message: Message) => boolean) {
    this.#write = write
    this.#take = take
    this.modern = new EraChannel(write)
    this.legacy = new EraChannel(write)
  }

  /** One line of the pipe. */
  accept(line: Buffer): void {
    const incoming = readMessage(line)
    if (incoming._tag === "Refused") this.#write(incoming.reply)
    if (incoming._tag === "Message") this.#route(incoming.message)
  }

  #route(message: Message): void {
    const meta = isObject(message.params?._meta) ? message.params._meta : {}
    if (Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY)) {
      const fault = message.id === undefined ? undefined : envelopeFault(meta, message.id)
      if (fault === undefined) this.#toModern(message)
      else this.#write(fault)
    } else {
      // A modern client's cancel carries no `_meta`; only the era that knows the request heeds it.
      if (message.method === "notifications/cancelled") this.#toModern(stamped(message))
      this.legacy.deliver(message)
    }
  }

  #toModern(message: Message): void {
    if (!this.#take(message)) this.modern.deliver(message)
  }
}

/** The SDK looks at a pipe's first message only; here each one is judged. */
const envelopeFault = (meta: JsonObject, id: RequestId): ErrorReply | undefined => {
  const version = meta[PROTOCOL_VERSION_META_KEY]
  const invalid = (why: string) => errorReply(ErrorCode.invalidParams, `Invalid params: _meta ${why}`, id)
  if (typeof version !== "string") return invalid(`${PROTOCOL_VERSION_META_KEY} must be a string`)
  if (version !== modernVersion) {
    const data = { supported: [modernVersion], requested: version }
    return errorReply(ErrorCode.unsupportedVersion, "Unsupported protocol version", id, data)
  }
  if (!isObject(meta[CLIENT_CAPABILITIES_META_KEY])) return invalid(`${CLIENT_CAPABILITIES_META_KEY} is required`)
  return undefined
}

const stamped = (message: Message): Message => ({
  ...message,
  params: {
    ...message.params,
    _meta: { [PROTOCOL_VERSION_META_KEY]: modernVersion, [CLIENT_CAPABILITIES_META_KEY]: {} }
  }
})
