import type { Bilingual, Locale } from "../domain/Settings.ts"
import { isTerminal, type Task, type TaskStatus } from "../domain/Task.ts"

/** The longest that a field of one line may be, in characters. */
const maxFieldLength = 120

/** What the owner of a request gets once it is on disk. */
export const acceptedText = (task: Task, locale: Locale): string =>
  lines([
    ["task_id", task.id],
    ["session_id", task.sessionId],
    ["status", "queued"],
    ["message", acceptedSentence(task)[locale]]
  ])

export const acceptedSentence = ({ id, sessionId }: Pick<Task, "id" | "sessionId">): Bilingual => ({
  ja: `タスク ${id} をセッション ${sessionId} に登録しました。`,
  en: `Task ${id} was registered in session ${sessionId}.`
})

/** A task as it is now. `result` stands last and is the only field that may have several lines. */
export const statusText = (task: Task, locale: Locale): string =>
  [
    lines([
      ["task_id", task.id],
      ["session_id", task.sessionId],
      ["status", task.status],
      ["completed_tasks", `${task.completedSteps}/${task.plannedSteps}`],
      ["current_task", task.currentTask],
      ["token_usage", tokenUsage(task)],
      ["critical_path_tokens", String(task.criticalPathTokens)],
      ["message", statusSentence(task, locale)]
    ]),
    field("result", task.result)
  ].join("\n")

/** For an id that names no task, or one that the caller may not see. */
export const notFoundText = (id: string, locale: Locale): string =>
  lines([
    ["task_id", id.toLowerCase()],
    ["status", "failed"],
    ["message", notFoundSentence(id.toLowerCase())[locale]]
  ])

export const notFoundSentence = (id: string): Bilingual => ({
  ja: `タスク ${id} が見つかりません。`,
  en: `Task ${id} was not found.`
})

/** What the task is doing, in one sentence. */
export const statusSentence = (task: Pick<Task, "status" | "cancelRequested">, locale: Locale): string =>
  (task.cancelRequested && !isTerminal(task.status) ? cancelling : sentences[task.status])[locale]

/** What is happening now, or the sentence where nothing is. */
export const statusMessage = (task: Task, locale: Locale): string =>
  oneLine(task.currentTask) || statusSentence(task, locale)

/** Control characters and line breaks become spaces; the rest is cut, never inside a character. */
export const oneLine = (value: string): string => {
  const flat = value.slice(0, maxFieldLength * 2).replace(/[\p{Cc}\u2028\u2029]/gu, " ")
  return flat.trim() === "" ? "" : Array.from(flat).slice(0, maxFieldLength).join("")
}

const sentences: Readonly<Record<TaskStatus, Bilingual>> = {
  queued: { ja: "タスクは実行待ちです。", en: "The task is waiting for its turn." },
  planning: { ja: "タスクを計画しています。", en: "The task is being planned." },
  running: { ja: "タスクを実行しています。", en: "The task is running." },
  completed: { ja: "タスクが完了しました。", en: "The task has completed." },
  failed: { ja: "タスクが失敗しました。", en: "The task has failed." },
  cancelled: { ja: "タスクは取り消されました。", en: "The task was cancelled." }
}

const cancelling: Bilingual = { ja: "タスクを取り消しています。", en: "The task is being cancelled." }

const tokenUsage = ({ usage }: Task): string =>
  `input=${usage.input} output=${usage.output} total=${usage.input + usage.output}`

const lines = (fields: ReadonlyArray<readonly [name: string, value: string]>): string =>
  fields.map(([name, value]) => field(name, oneLine(value))).join("\n")

const field = (name: string, value: string): string => (value === "" ? `${name}:` : `${name}: ${value}`)
