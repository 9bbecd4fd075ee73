import type { Locale } from "../domain/Settings.ts"
import type { Task } from "../domain/Task.ts"
import { statusSentence } from "../mcp/StatusText.ts"

/** A task for scripts: the field names of the status text, on one line. */
export const taskJson = (task: Task, locale: Locale): string =>
  JSON.stringify({
    task_id: task.id,
    session_id: task.sessionId,
    status: task.status,
    completed_tasks: { done: task.completedSteps, planned: task.plannedSteps },
    current_task: task.currentTask,
    token_usage: { input: task.usage.input, output: task.usage.output, total: task.usage.input + task.usage.output },
    critical_path_tokens: task.criticalPathTokens,
    message: statusSentence(task, locale),
    result: task.result
  })
