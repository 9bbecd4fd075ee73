import { Either } from "effect"
import type { Caller } from "../domain/Caller.ts"
import { eraOf } from "./EraOf.ts"
import { isRequest, isRequestId, type Message, readMessage } from "./JsonRpc.ts"
import type { Servers } from "./McpServer.ts"
import type { StdioSubscriptions } from "./StdioSubscriptions.ts"

/** Where the lines of a pipe go, and where answers come out. */
export interface StdioRoutes {
  readonly servers: Servers
  readonly subscriptions: StdioSubscriptions
  readonly caller: Caller
  readonly write: (message: object) => void
}

/** Takes the lines of a pipe, each by itself: no answer depends on an earlier request. */
export const stdioRouter = ({ servers, subscriptions, caller, write }: StdioRoutes): ((line: Buffer) => void) => {
  const cancel = (message: Message) => {
    const id = message.params?.requestId
    if (!isRequestId(id) || subscriptions.cancel(id)) return
    servers.modern.cancel(id)
    servers.legacy.cancel(id)
  }
  const route = (message: Message) => {
    // Nothing else that a client may tell means anything to a server that remembers nothing of it.
    if (!isRequest(message)) {
      if (message.method === "notifications/cancelled") cancel(message)
      return
    }
    Either.match(eraOf(message), {
      onLeft: ({ reply }) => write(reply),
      onRight: (era) => {
        if (era === "modern" && subscriptions.take(message)) return
        servers[era].ask(message, caller, write)
      }
    })
  }
  return (line) => {
    const incoming = readMessage(line)
    if (incoming._tag === "Refused") write(incoming.reply)
    if (incoming._tag === "Message") route(incoming.message)
  }
}
