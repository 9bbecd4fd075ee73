import type { Bilingual, Locale } from "../domain/Settings.ts"
import { isTerminal, type Task } from "../domain/Task.ts"
import { oneLine, statusSentence } from "../mcp/StatusText.ts"
import { displayWidth, fitted } from "./DisplayWidth.ts"

/** What is shown of a task while somebody waits for it. */
export interface ProgressView {
  readonly task: Task
  /** How many tasks come before it; null where that does not matter any more. */
  readonly ahead: number | null
  /** It is the next one, and yet somebody else has the runner's place. */
  readonly elsewhere: boolean
  readonly seconds: number
}

const GAP = "  "

/** The line without the time, so that one can tell whether anything has changed: state, steps, what it does, tokens. */
export const progressLine = (view: ProgressView, locale: Locale, columns = Number.POSITIVE_INFINITY): string => {
  const { task } = view
  const tokens = task.usage.input + task.usage.output
  const waits = task.status === "queued" && !task.cancelRequested
  const before = [
    statusSentence(task, locale),
    waits ? waitingFor(view)[locale] : `${task.completedSteps}/${task.plannedSteps}`
  ]
  const after = tokens > 0 ? [`${tokens.toLocaleString("en-US")} ${texts.tokens[locale]}`] : []
  const room = columns - displayWidth([...before, ...after, ""].join(GAP))
  const current = isTerminal(task.status) ? "" : fitted(oneLine(task.currentTask), room)
  return fitted([...before, current, ...after].filter((part) => part !== "").join(GAP), columns)
}

/** The line with the time at its end, and on a terminal no wider than that. */
export const timedLine = (view: ProgressView, locale: Locale, columns = Number.POSITIVE_INFINITY): string => {
  const time = elapsed(view.seconds)
  const line = progressLine(view, locale, columns - displayWidth(GAP + time))
  return line === "" ? fitted(time, columns) : `${line}${GAP}${time}`
}

/** `0:07`, `12:30`, `1:00:00`. */
export const elapsed = (seconds: number): string => {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const two = (n: number) => String(n).padStart(2, "0")
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

const waitingFor = ({ ahead, elsewhere }: ProgressView): Bilingual =>
  ahead !== null && ahead > 0
    ? { ja: `前に ${ahead} 件`, en: ahead === 1 ? "1 task before it" : `${ahead} tasks before it` }
    : elsewhere
      ? texts.elsewhere
      : { ja: "", en: "" }

const texts = {
  tokens: { ja: "トークン", en: "tokens" },
  elsewhere: { ja: "別のプロセスが実行を担当しています", en: "another process runs the tasks" }
}
