import type { Result } from "@modelcontextprotocol/server"
import { Effect, Option } from "effect"
import { AppConfig, type Settings } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { Task, TaskStatus } from "../domain/Task.ts"
import { Tasks } from "../task/Tasks.ts"
import { isObject, type JsonObject } from "./JsonRpc.ts"
import { TaskNotFound, tasksExtension } from "./Refusals.ts"
import { statusMessage, statusText } from "./StatusText.ts"

/** Whether a request's client capabilities declare the extension. */
export const declaresTasks = (capabilities: unknown): boolean =>
  isObject(capabilities) && isObject(capabilities.extensions) && isObject(capabilities.extensions[tasksExtension])

/** A failed agent task is a completed one here, with an erroneous result: `failed` is for JSON-RPC errors. */
const wireStatus: Readonly<Record<TaskStatus, "working" | "completed" | "cancelled">> = {
  queued: "working",
  planning: "working",
  running: "working",
  completed: "completed",
  failed: "completed",
  cancelled: "cancelled"
}

/** The extension's `Task`. */
const wireTask = (task: Task, { locale, mcp }: Settings): JsonObject => ({
  taskId: task.id,
  status: wireStatus[task.status],
  statusMessage: statusMessage(task, locale),
  createdAt: new Date(task.createdAt).toISOString(),
  lastUpdatedAt: new Date(Math.max(task.createdAt, task.updatedAt)).toISOString(),
  // A task's whole life, known once it is over; till then it does not expire.
  ttlMs: task.endedAt === null ? null : Math.max(0, task.endedAt - task.createdAt) + mcp.tasks.ttl,
  pollIntervalMs: mcp.tasks.pollInterval
})

/** The extension's `DetailedTask`: with the tool's result once there is one. */
export const detailedTask = (task: Task, settings: Settings): JsonObject => ({
  ...wireTask(task, settings),
  ...(wireStatus[task.status] === "completed" && {
    result: {
      // The extension's own client fails without it.
      resultType: "complete",
      content: [{ type: "text", text: statusText(task, settings.locale) }],
      ...(task.status === "failed" && { isError: true })
    }
  })
})

/** The first answer to a client that declared the extension. */
export const createTaskResult = (task: Task, settings: Settings): Result => ({
  resultType: "task",
  ...wireTask(task, settings)
})

export const getTask = Effect.fn("TasksExtension.get")(function* (taskId: string, caller: Caller) {
  const task = yield* known(taskId, (yield* Tasks).get(taskId, caller))
  return { resultType: "complete", ...detailedTask(task, yield* AppConfig) } satisfies Result
})

/** Answers to questions that the task asked. No task asks any yet; an answer to no question is acknowledged and ignored. */
export const updateTask = Effect.fn("TasksExtension.update")(function* (taskId: string, caller: Caller) {
  yield* known(taskId, (yield* Tasks).get(taskId, caller))
  return acknowledged
})

/** Acknowledged once the wish is on disk; a task that is over stays as it is. */
export const cancelTask = Effect.fn("TasksExtension.cancel")(function* (taskId: string, caller: Caller) {
  yield* known(taskId, (yield* Tasks).cancel(taskId, caller))
  return acknowledged
})

const acknowledged: Result = { resultType: "complete" }

const known = <E>(taskId: string, task: Effect.Effect<Option.Option<Task>, E>): Effect.Effect<Task, E | TaskNotFound> =>
  Effect.flatMap(task, Option.match({ onNone: () => new TaskNotFound({ taskId }), onSome: Effect.succeed }))
