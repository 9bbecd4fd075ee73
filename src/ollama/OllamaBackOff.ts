import { Duration, Effect, Ref, Schedule } from "effect"
import type { TokenUsage } from "../domain/Task.ts"
import { type OllamaError, OllamaStreamBroken, OllamaUnavailable } from "./OllamaError.ts"
import type { ChatReply } from "./OllamaSchema.ts"

const LIMIT = Duration.seconds(30)
const LONGEST_WAIT = Duration.seconds(8)

/** Waits of 0.5, 1, 2, 4, 8, 8 and 6.5 seconds: no attempt begins later than 30 seconds after the first failure. */
const schedule = Schedule.exponential("500 millis").pipe(
  Schedule.intersect(Schedule.elapsed),
  Schedule.whileOutput(([, elapsed]) => Duration.lessThan(elapsed, LIMIT)),
  Schedule.modifyDelay(([, elapsed], wait) =>
    Duration.min(Duration.min(wait, LONGEST_WAIT), Duration.subtract(LIMIT, elapsed))
  )
)

/**
 * Tries again where the failure may pass. A server that cannot be reached is not waited for, unless it had
 * answered an earlier attempt: then it is being restarted. `attempt` counts from 1. The tokens of attempts
 * that failed are in the reply's `retriedUsage`, or in the last error's `usage`.
 */
export const withBackOff = (
  attempt: (number: number) => Effect.Effect<ChatReply, OllamaError>
): Effect.Effect<ChatReply, OllamaError> =>
  Effect.gen(function* () {
    const number = yield* Ref.make(0)
    const spent = yield* Ref.make<TokenUsage>({ input: 0, output: 0 })
    const once = Ref.updateAndGet(number, (before) => before + 1).pipe(
      Effect.flatMap(attempt),
      Effect.tapError((error) => Ref.update(spent, (before) => sum(before, usageOf(error))))
    )
    const mayPass = (error: OllamaError) =>
      Effect.map(Ref.get(number), (count) => isPassing(error) || (error._tag === "OllamaUnreachable" && count > 1))
    const reply = yield* once.pipe(
      Effect.tapError((error) => Effect.when(logAgain(error), () => isPassing(error))),
      Effect.retry({ schedule, while: mayPass }),
      Effect.catchAll((error) => Effect.flatMap(Ref.get(spent), (usage) => Effect.fail(withUsage(error, usage))))
    )
    const retriedUsage = yield* Ref.get(spent)
    return retriedUsage.input + retriedUsage.output === 0 ? reply : { ...reply, retriedUsage }
  })

const isPassing = (error: OllamaError): boolean =>
  error._tag === "OllamaUnavailable" || error._tag === "OllamaStreamBroken"

const logAgain = (error: OllamaError) =>
  Effect.logWarning("an attempt at a chat failed").pipe(Effect.annotateLogs({ reason: error.message }))

const usageOf = (error: OllamaError): TokenUsage =>
  error._tag === "OllamaUnavailable" || error._tag === "OllamaStreamBroken" ? error.usage : { input: 0, output: 0 }

/** The same error with other counts, where it has any. */
export const withUsage = (error: OllamaError, usage: TokenUsage): OllamaError => {
  const { message } = error
  if (error._tag === "OllamaUnavailable") return new OllamaUnavailable({ status: error.status, message, usage })
  return error._tag === "OllamaStreamBroken" ? new OllamaStreamBroken({ message, usage }) : error
}

const sum = (left: TokenUsage, right: TokenUsage): TokenUsage => ({
  input: left.input + right.input,
  output: left.output + right.output
})
