import { Effect, FiberMap, type Scope, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { Tasks } from "../task/Tasks.ts"
import { ErrorCode, errorReply, isRequestId, type Message, type RequestId } from "./JsonRpc.ts"
import { isTaskListen, makeTaskSubscriptions, refusalReply, type TaskListen } from "./TaskSubscriptions.ts"

/** The task subscriptions of a pipe. */
export interface StdioSubscriptions {
  /** Whether the message, of a modern client, was for them and has been seen to. */
  readonly take: (message: Message) => boolean
  /** Ends all of them, each with its result, and waits until these are written. */
  readonly end: Effect.Effect<void>
}

/** `write` writes a message; `room` waits until the reader has taken enough of what was written. */
export const makeStdioSubscriptions = (
  caller: Caller,
  write: (message: object) => void,
  room: Effect.Effect<void>
): Effect.Effect<StdioSubscriptions, never, Tasks | AppConfig | Scope.Scope> =>
  Effect.gen(function* () {
    const subscriptions = yield* makeTaskSubscriptions
    const open = yield* FiberMap.make<RequestId, void, never>()
    const run = yield* FiberMap.runtime(open)<Tasks | AppConfig>()

    const send = (message: object) =>
      Effect.zipRight(
        Effect.sync(() => write(message)),
        room
      )
    const listen = (request: TaskListen) =>
      subscriptions.open(request, caller).pipe(
        Effect.flatMap(Stream.runForEach(send)),
        Effect.catchAll((error) =>
          Effect.flatMap(AppConfig, (settings) => send(refusalReply(error, request.id, settings)))
        )
      )
    const begin = (request: TaskListen) => {
      if (FiberMap.unsafeHas(open, request.id)) {
        write(errorReply(ErrorCode.invalidRequest, "Invalid request: a subscription has this id", request.id))
      } else run(request.id, listen(request))
      return true
    }
    const cancel = (id: RequestId) => {
      if (!FiberMap.unsafeHas(open, id)) return false
      run(id, Effect.void) // interrupts the subscription and frees its id at once
      return true
    }
    return {
      take: (message) => {
        if (isTaskListen(message)) return begin(message)
        const cancelled = message.method === "notifications/cancelled" ? message.params?.requestId : undefined
        return isRequestId(cancelled) && cancel(cancelled)
      },
      end: Effect.zipRight(subscriptions.end, FiberMap.awaitEmpty(open))
    }
  })
