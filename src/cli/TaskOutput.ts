import type { Locale } from "../domain/Settings.ts"
import type { Task } from "../domain/Task.ts"
import { notFoundSentence, notFoundText, oneLine, statusSentence, statusText } from "../mcp/StatusText.ts"

/** A task for scripts: the field names of the status text, on one line. */
export const taskJson = (task: Task, locale: Locale): string =>
  JSON.stringify({
    task_id: task.id,
    session_id: task.sessionId,
    status: task.status,
    completed_tasks: { done: task.completedSteps, planned: task.plannedSteps },
    current_task: oneLine(task.currentTask),
    token_usage: { input: task.usage.input, output: task.usage.output, total: task.usage.input + task.usage.output },
    critical_path_tokens: task.criticalPathTokens,
    message: statusSentence(task, locale),
    result: task.result
  })

/** What a command prints of a task. */
export const taskOutput = (task: Task, json: boolean, locale: Locale): string =>
  `${json ? taskJson(task, locale) : statusText(task, locale)}\n`

/** What a command prints where there is no such task. */
export const notFoundOutput = (id: string, json: boolean, locale: Locale): string => {
  const fields = { task_id: id, status: "failed", message: notFoundSentence(id)[locale] }
  return `${json ? JSON.stringify(fields) : notFoundText(id, locale)}\n`
}
