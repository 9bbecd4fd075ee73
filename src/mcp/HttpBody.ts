import type { IncomingMessage } from "node:http"
import { Data, Effect } from "effect"
import { tooLarge } from "./HttpGuards.ts"
import { type HttpRefused, refused } from "./HttpRefused.ts"

/** The client went away before its request was whole. */
export class ClientGone extends Data.TaggedError("ClientGone") {}

/** Reads the bodies of a server's requests, within bounds for one and for all that are being read. */
export interface BodyReader {
  /** The memory counts as used until `use` is done with the body. */
  readonly read: <A, E, R>(
    request: IncomingMessage,
    use: (body: Buffer) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | HttpRefused | ClientGone, R>
}

/** So many bodies of the largest size may be in memory at once. */
const fullBodies = 8

export const makeBodyReader = (limit: number): BodyReader => {
  let inMemory = 0
  const collect = (request: IncomingMessage, held: { bytes: number }) =>
    Effect.async<Buffer, HttpRefused | ClientGone>((resume) => {
      const parts: Array<Buffer> = []
      const onData = (part: Buffer) => {
        held.bytes += part.length
        inMemory += part.length
        parts.push(part)
        if (held.bytes > limit) finish(tooLarge(limit))
        else if (inMemory > limit * fullBodies) {
          finish(
            refused(503, "Too many large requests at once: try again", { "retry-after": "1", connection: "close" })
          )
        }
      }
      const onEnd = () => finish(Effect.sync(() => Buffer.concat(parts)))
      const onGone = () => finish(new ClientGone())
      const finish = (outcome: Effect.Effect<Buffer, HttpRefused | ClientGone>) => {
        stop()
        resume(outcome)
      }
      const stop = () => {
        request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone)
        request.on("error", () => {})
      }
      request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
      return Effect.sync(stop)
    })
  return {
    read: (request, use) =>
      Effect.suspend(() => {
        const held = { bytes: 0 }
        return collect(request, held).pipe(
          Effect.flatMap(use),
          Effect.ensuring(
            Effect.sync(() => {
              inMemory -= held.bytes
            })
          )
        )
      })
  }
}
