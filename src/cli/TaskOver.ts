import { type Context, Effect, Option } from "effect"
import { isTerminal } from "../domain/Task.ts"
import type { Tasks } from "../task/Tasks.ts"
import { caller } from "./Output.ts"

/** Whether the task is over or gone; a store that cannot be read just now says no. */
export const isOver = (tasks: Context.Tag.Service<Tasks>, id: string): Effect.Effect<boolean> =>
  tasks.get(id, caller).pipe(
    Effect.map(Option.match({ onNone: () => true, onSome: (task) => isTerminal(task.status) })),
    Effect.catchAll(() => Effect.succeed(false))
  )
