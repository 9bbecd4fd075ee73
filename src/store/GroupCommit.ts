import type { SqlError } from "@effect/sql"
import { Cause, Deferred, Effect, Exit, Option, Queue, type Scope } from "effect"
import type { Sql } from "./Sql.ts"
import type { StoreFailed } from "./StoreFailed.ts"

/** Runs effects that arrive together in one transaction, so that they share its one wait for the disk. */
export interface GroupCommit {
  /**
   * On disk when it returns. The effect may fail in words of its own only before its first write: what it has written
   * by then is not undone. A failure of SQLite, or a defect, fails all that came together, and nothing of them stays.
   */
  readonly run: <A, E>(effect: Effect.Effect<A, E | SqlError.SqlError>) => Effect.Effect<A, E | StoreFailed>
}

interface Waiting {
  /** Gives what is to be done once the commit is on disk. */
  readonly write: Effect.Effect<Effect.Effect<unknown>, SqlError.SqlError>
  readonly abandon: (cause: Cause.Cause<StoreFailed>) => Effect.Effect<unknown>
}

export const makeGroupCommit = (immediate: Sql["Type"]["immediate"]): Effect.Effect<GroupCommit, never, Scope.Scope> =>
  Effect.gen(function* () {
    const arrivals = yield* Queue.unbounded<Waiting>()
    // what has been taken from the queue is answered, also when the scope closes meanwhile
    const commit = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const first = yield* restore(Queue.take(arrivals))
        yield* nextTurn
        const together = [first, ...(yield* Queue.takeAll(arrivals))]
        const exit = yield* Effect.exit(immediate(Effect.forEach(together, (waiting) => waiting.write)))
        yield* Exit.match(exit, {
          onSuccess: (dones) => Effect.all(dones, { discard: true }),
          onFailure: (cause) => Effect.forEach(together, (waiting) => waiting.abandon(cause), { discard: true })
        })
      })
    )
    yield* Effect.forkScoped(Effect.forever(commit))

    const run: GroupCommit["run"] = <A, E>(effect: Effect.Effect<A, E | SqlError.SqlError>) =>
      Effect.flatMap(Deferred.make<A, E | StoreFailed>(), (done) =>
        Effect.zipRight(
          Queue.offer(arrivals, {
            write: Effect.flatMap(Effect.exit(effect), (exit) =>
              breaksAll(exit)
                ? Effect.failCause(exit.cause)
                : Effect.succeed(Deferred.done(done, exit as Exit.Exit<A, E>))
            ),
            abandon: (cause) => Deferred.failCause(done, cause)
          }),
          Deferred.await(done)
        )
      )
    return { run }
  })

// lets requests that have arrived meanwhile come as far as the queue
const nextTurn = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

// none in words: a defect, which may come after the first write
const breaksAll = (exit: Exit.Exit<unknown, unknown>): exit is Exit.Failure<never, SqlError.SqlError> =>
  Exit.isFailure(exit) &&
  Option.match(Cause.failureOption(exit.cause), {
    onNone: () => true,
    onSome: (error) => (error as { _tag?: string })._tag === "SqlError"
  })
