import { Clock, Effect } from "effect"
import type { AgentSettings, Bilingual } from "../domain/Settings.ts"
import type { ToolCall } from "../domain/ToolCall.ts"
import { FailureText } from "./FailureText.ts"
import type { Setback } from "./ToolCallReader.ts"

/** How often one more try is asked for without any progress between, for each kind of useless reply. */
const TRIES: Readonly<Record<Setback, number>> = {
  empty: 1,
  onlyThinking: 1,
  cut: 1,
  cutThinking: 1,
  callInProse: 2,
  brokenCall: 2,
  badToolCall: 2
}

const SAME_TURNS = 3

/** Counts what a task has used, and says which limit it has reached. It belongs to the fiber of one task. */
export class Limits {
  readonly #settings: AgentSettings
  #turns: number
  #tokens: number
  #lastCalls = ""
  #sameCalls = 0
  readonly #setbacks = new Map<Setback, number>()

  /** `turns` and `tokens` are what the task had used before it was resumed. */
  constructor(settings: AgentSettings, used: { readonly turns: number; readonly tokens: number }) {
    this.#settings = settings
    this.#turns = used.turns
    this.#tokens = used.tokens
  }

  /** How many turns were begun, those before a restart included. */
  get turns(): number {
    return this.#turns
  }

  /** Begins a turn, unless a limit says that there is none left. */
  beginTurn(): Bilingual | null {
    const { maxTurns, maxTokens } = this.#settings
    if (this.#turns >= maxTurns) return FailureText.turns(maxTurns)
    if (maxTokens !== null && this.#tokens >= maxTokens) return FailureText.tokens(maxTokens, this.#tokens)
    this.#turns++
    return null
  }

  spend(tokens: number): void {
    this.#tokens += tokens
  }

  /** How many turns in a row have asked for exactly these calls, this one included; every one is progress but a repeat. */
  seeCalls(calls: ReadonlyArray<ToolCall>): "new" | "again" | "stuck" {
    const key = JSON.stringify(calls.map((call) => [call.name, sorted(call.arguments)]))
    this.#sameCalls = key === this.#lastCalls ? this.#sameCalls + 1 : 1
    this.#lastCalls = key
    this.#setbacks.clear()
    return this.#sameCalls >= SAME_TURNS ? "stuck" : this.#sameCalls > 1 ? "again" : "new"
  }

  /** Whether the model is asked once more after a useless reply. */
  mayRetry(why: Setback): boolean {
    const tries = (this.#setbacks.get(why) ?? 0) + 1
    this.#setbacks.set(why, tries)
    return tries <= TRIES[why]
  }
}

const TICK = 1000

/**
 * Interrupts `work` and fails with `onLimit` once it has been at work for `limit` milliseconds. Time in which
 * the process did not run (a suspended laptop, a stopped process) counts for two seconds at the most.
 */
export const withinDuration = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  limit: number,
  onLimit: () => E2
): Effect.Effect<A, E | E2, R> => {
  const watch = Effect.gen(function* () {
    let worked = 0
    let before = yield* Clock.currentTimeNanos
    while (worked < limit) {
      const wait = Math.min(TICK, limit - worked)
      yield* Effect.sleep(wait)
      const now = yield* Clock.currentTimeNanos
      worked += Math.max(wait, Math.min(Number(now - before) / 1e6, 2 * TICK))
      before = now
    }
    return yield* Effect.fail(onLimit())
  })
  return Effect.raceFirst(work, watch)
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, each]) => [key, sorted(each)])
}
