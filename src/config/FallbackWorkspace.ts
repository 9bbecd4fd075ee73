import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import type { TaskSettings } from "../domain/Settings.ts"

/** The workspace in the data folder could not be made. */
export class WorkspaceNotMade extends Schema.TaggedError<WorkspaceNotMade>()("WorkspaceNotMade", {
  folder: Schema.String,
  reason: Schema.String
}) {}

export const fallbackWorkspace = (dataDir: string): string => join(dataDir, "workspace")

/**
 * Makes the task's workspace (mode 0700) where it is the one in the data folder: to be called before a task works.
 * Loading settings does not, since a start has no side effects. Any other workspace is left as it is.
 */
export const makeFallbackWorkspace = Effect.fn("FallbackWorkspace.make")(function* (task: TaskSettings) {
  const [dataDir] = task.hidden
  if (dataDir === undefined || task.workspace !== fallbackWorkspace(dataDir)) return
  yield* Effect.tryPromise({
    try: () => mkdir(task.workspace, { recursive: true, mode: 0o700 }),
    catch: (cause) => new WorkspaceNotMade({ folder: task.workspace, reason: (cause as Error).message })
  })
})
