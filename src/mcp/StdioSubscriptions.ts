import { Effect, FiberMap, type Scope } from "effect"
import type { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { Tasks } from "../task/Tasks.ts"
import { listenMethod } from "./Era.ts"
import { ErrorCode, errorReply, type Request, type RequestId } from "./JsonRpc.ts"

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
    // Most pipes never see a subscription, and what it takes is costly to load.
    const subscriptions = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./TaskSubscriptions.ts")),
        (module) => module.makeTaskSubscriptions
      )
    )
    const open = yield* FiberMap.make<RequestId, void, never>()
    const run = yield* FiberMap.runtime(open)<Tasks | AppConfig>()
    const tell = (message: object) =>
      Effect.zipRight(
        Effect.sync(() => write(message)),
        room
      )
    const listen = (request: Request) =>
      Effect.flatMap(subscriptions, ({ serve }) => serve(request, caller, tell)).pipe(
        Effect.catchTag("SubscriptionRefused", ({ reply }) => tell(reply))
      )
    return {
      take: (request) => {
        if (request.method !== listenMethod) return false
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
      end: Effect.flatMap(FiberMap.size(open), (count) =>
        count === 0
          ? Effect.void
          : Effect.zipRight(
              Effect.flatMap(subscriptions, ({ end }) => end),
              FiberMap.awaitEmpty(open)
            )
      )
    }
  })
