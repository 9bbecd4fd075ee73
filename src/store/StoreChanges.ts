import { Context, Effect, Layer, PubSub, Stream } from "effect"
import { Sql } from "./Sql.ts"

/** A cancel by another process is seen after at most this; with what a stubborn command needs to die it stays under 200 ms. */
const POLL = "50 millis"

/** Tells that something in the store has changed, in this process at once, in another one within a twentieth of a second. */
export class StoreChanges extends Context.Tag("sagyo/store/StoreChanges")<
  StoreChanges,
  {
    /** To be called after a commit. */
    readonly signal: Effect.Effect<void>
    /** One element at once, then one after each change; several changes may give one. */
    readonly any: Stream.Stream<void>
  }
>() {
  static readonly layer = Layer.scoped(
    StoreChanges,
    Effect.gen(function* () {
      const { sql } = yield* Sql
      const hub = yield* PubSub.sliding<void>(1)
      // the counter moves when another connection has committed, and costs no read of the file's pages
      const version = sql.unsafe<{ data_version: number }>("PRAGMA data_version").pipe(
        Effect.map(([row]) => row?.data_version ?? 0),
        Effect.catchAll(() => Effect.succeed(0))
      )
      const signal = Effect.asVoid(PubSub.publish(hub, undefined))
      let seen = yield* version // now, so that no change after this is taken for the beginning
      let listeners = 0
      const look = Effect.flatMap(version, (now) => {
        const changed = now !== seen
        seen = now
        return changed ? signal : Effect.void
      })
      // nobody is woken for nobody: most processes of a data folder only wait for requests
      const lookForSomebody = Effect.suspend(() => (listeners === 0 ? Effect.void : look))
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(POLL), lookForSomebody)))
      const listening = Effect.acquireRelease(
        Effect.sync(() => {
          listeners += 1
        }),
        () =>
          Effect.sync(() => {
            listeners -= 1
          })
      )
      return {
        signal,
        any: Stream.unwrapScoped(
          Effect.map(Effect.zipRight(listening, Stream.fromPubSub(hub, { scoped: true })), (changes) =>
            Stream.concat(Stream.make(undefined), changes)
          )
        )
      }
    })
  )
}
