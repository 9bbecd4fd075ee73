import { Chunk, Duration, Effect, TestClock } from "effect"

/** Lets everything happen that is ready to happen, in this process and on its sockets. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Settles when some fiber sleeps on the test clock and has exactly `wait` left, and then lets it pass. */
export const passWait = (wait: Duration.DurationInput): Effect.Effect<void> =>
  asleepFor(wait).pipe(Effect.zipRight(TestClock.adjust(wait)))

/** Settles when some fiber sleeps on the test clock and has exactly `wait` left. */
export const asleepFor = (wait: Duration.DurationInput): Effect.Effect<void> =>
  Effect.gen(function* () {
    const until = (yield* TestClock.currentTimeMillis) + Duration.toMillis(wait)
    while (!Chunk.some(yield* TestClock.sleeps(), (instant) => instant === until)) yield* turn
  })
