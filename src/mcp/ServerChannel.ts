import type { JSONRPCMessage, ServerContext, Transport, TransportSendOptions } from "@modelcontextprotocol/server"
import type { Caller } from "../domain/Caller.ts"
import type { Request, RequestId } from "./JsonRpc.ts"

/** Gets what the server tells about a request, and then the answer. */
export type Heard = (message: object, isAnswer: boolean) => void

interface Open {
  readonly id: RequestId
  readonly caller: Caller
  heard: Heard
}

/**
 * What a server of the SDK is connected to: one channel for every request of every client of its era. A
 * request gets a number of its own on it, under which its answer comes back, so that equal ids do not meet.
 */
export class ServerChannel implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #open = new Map<number, Open>()
  #count = 0
  #onIdle: () => void = () => {}

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.onclose?.()
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isAnswer = !("method" in message)
    const number = Number(isAnswer ? message.id : options?.relatedRequestId)
    const open = this.#open.get(number)
    if (open === undefined) return
    if (isAnswer) this.#open.delete(number)
    open.heard(isAnswer ? { ...message, id: open.id } : message, isAnswer)
    if (this.#open.size === 0) this.#onIdle()
  }

  ask(request: Request, caller: Caller, heard: Heard): void {
    this.#count += 1
    this.#open.set(this.#count, { id: request.id, caller, heard })
    this.onmessage?.({ ...request, id: this.#count })
  }

  /** Nothing more is heard of the requests with this id. What they had begun goes on: it may be on disk already. */
  cancel(id: RequestId): void {
    for (const open of this.#open.values()) {
      if (open.id === id) open.heard = () => {}
    }
  }

  callerOf({ mcpReq }: ServerContext): Caller {
    const open = this.#open.get(Number(mcpReq.id))
    if (open === undefined) throw new Error("a request came without its caller")
    return open.caller
  }

  /** Calls back, maybe at once, when every request has its answer. */
  whenIdle(callback: () => void): void {
    this.#onIdle = callback
    if (this.#open.size === 0) callback()
  }
}
