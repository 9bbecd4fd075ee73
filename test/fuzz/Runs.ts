import { Effect, Runtime } from "effect"
import fc from "fast-check"
import { TasksFake } from "../support/TasksFake.ts"

/** How often each property is tried: 200 times in the ordinary tests, more in `npm run fuzz`. */
export const runs = Number(process.env.FUZZ_RUNS ?? 200)

/** Time for all the runs of a property; one run may take a few seconds only, see `patience`. */
export const propertyTimeout = 30_000 + runs * 100

/** What takes longer hangs. */
export const patience = "10 seconds"

/** Tries a property that is an effect; whatever it dies of is reported with the smallest input that shows it. */
export const holds = <A, R>(inputs: fc.Arbitrary<A>, check: (input: A) => Effect.Effect<void, never, R>) =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(inputs, (input) =>
          Runtime.runPromise(runtime)(check(input).pipe(Effect.timeout(patience), Effect.orDie))
        ),
        { numRuns: runs }
      )
    )
  )

/** Between two runs, so that the ten-thousandth is as quick as the first. */
export const forgetTasks = Effect.gen(function* () {
  const fake = yield* TasksFake
  for (const task of yield* fake.all) yield* fake.expire(task.id)
})
