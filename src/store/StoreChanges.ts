import { Context, Effect, Layer, PubSub, Schedule, Stream } from "effect"
import { Sql } from "./Sql.ts"

/** How soon a change by another process is seen. */
const POLL = "100 millis"

/** Tells that something in the store has changed, in this process at once, in another one within a tenth of a second. */
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
      const first = yield* version // now, so that no change after this is taken for the beginning
      yield* Stream.make(first).pipe(
        Stream.concat(Stream.repeatEffectWithSchedule(version, Schedule.spaced(POLL))),
        Stream.changes,
        Stream.drop(1),
        Stream.runForEach(() => signal),
        Effect.forkScoped
      )
      return {
        signal,
        any: Stream.unwrapScoped(
          Effect.map(Stream.fromPubSub(hub, { scoped: true }), (changes) =>
            Stream.concat(Stream.make(undefined), changes)
          )
        )
      }
    })
  )
}
