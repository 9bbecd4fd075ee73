import { Clock, Effect, type Scope } from "effect"
import type { Locale } from "../domain/Settings.ts"
import type { Task } from "../domain/Task.ts"
import { statusSentence } from "../mcp/StatusText.ts"
import { note } from "./Output.ts"

/** How a task's changes are shown: one line that is redrawn on a terminal, a line each where stderr is a pipe. */
export interface Progress {
  readonly show: (task: Task) => Effect.Effect<void>
  readonly end: Effect.Effect<void>
}

export const makeProgress = (locale: Locale): Effect.Effect<Progress, never, Scope.Scope> =>
  Effect.map(Clock.currentTimeMillis, (since) => {
    let shown = ""
    const live = process.stderr.isTTY
    const line = (task: Task, now: number) => {
      const tokens = task.usage.input + task.usage.output
      return [
        statusSentence(task, locale),
        task.currentTask,
        tokens > 0 ? `${tokens} tokens` : "",
        live ? elapsed(now - since) : ""
      ]
        .filter((part) => part !== "")
        .join("  ")
    }
    return {
      show: (task) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const next = line(task, now)
          if (next === shown) return Effect.void
          shown = next
          return note(live ? `\r\u001b[K${next.slice(0, (process.stderr.columns ?? 80) - 1)}` : `${next}\n`)
        }),
      end: live ? note("\r\u001b[K") : Effect.void
    }
  })

const elapsed = (millis: number): string => {
  const seconds = Math.floor(millis / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}
