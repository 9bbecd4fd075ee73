import { Effect, FiberMap, type Scope, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { Tasks } from "../task/Tasks.ts"
import { ErrorCode, errorReply, type Request, type RequestId } from "./JsonRpc.ts"
import { isListen, makeTaskSubscriptions, refusalReply } from "./TaskSubscriptions.ts"

/** The task subscriptions of a pipe. */
export interface StdioSubscriptions {
  /** Whether the request, of a modern client, was for them and has been seen to. */
  readonly take: (request: Request) => boolean
  /** Whether there was a subscription with this id; nothing more is told of it. */
  readonly cancel: (id: RequestId) => boolean
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
    const listen = (request: Request) =>
      subscriptions.open(request, caller).pipe(
        Effect.flatMap(Stream.runForEach(send)),
        Effect.catchAll((error) =>
          Effect.flatMap(AppConfig, (settings) => send(refusalReply(error, request.id, settings)))
        )
      )
    return {
      take: (request) => {
        if (!isListen(request)) return false
        if (FiberMap.unsafeHas(open, request.id)) {
          write(errorReply(ErrorCode.invalidRequest, "Invalid request: a subscription has this id", request.id))
        } else {
          run(request.id, listen(request))
        }
        return true
      },
      cancel: (id) => {
        if (!FiberMap.unsafeHas(open, id)) return false
        run(id, Effect.void) // interrupts the subscription and frees its id at once
        return true
      },
      end: Effect.zipRight(subscriptions.end, FiberMap.awaitEmpty(open))
    }
  })
