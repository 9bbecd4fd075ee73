import { Deferred, Effect, type Scope } from "effect"

/**
 * Ctrl-C, for the life of the scope: the effect succeeds at the first one; a second one ends the process at once,
 * without a clean-up.
 */
export const firstInterrupt: Effect.Effect<Effect.Effect<void>, never, Scope.Scope> = Effect.gen(function* () {
  const first = yield* Deferred.make<void>()
  let presses = 0
  const onPress = () => {
    presses += 1
    if (presses > 1) process.exit(130)
    Deferred.unsafeDone(first, Effect.void)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGINT", onPress)),
    () => Effect.sync(() => process.off("SIGINT", onPress))
  )
  return Deferred.await(first)
})
