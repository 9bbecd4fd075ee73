import type { Context, Effect } from "effect"
import type { RunnableTask } from "../domain/Task.ts"
import type { OllamaClient } from "../ollama/OllamaClient.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import type { TaskProgress } from "../store/TaskRepo.ts"
import type { ToolBox, ToolOffer } from "../tools/ToolBox.ts"
import type { ContextWindow } from "./ContextWindow.ts"
import type { Limits } from "./Limits.ts"
import type { UsableModel } from "./ModelCheck.ts"

/** Everything that one task works with. Window and limits change as it goes on; one fiber owns them. */
export interface Job {
  readonly task: RunnableTask
  readonly model: UsableModel
  readonly offer: ToolOffer
  readonly window: ContextWindow
  readonly limits: Limits
  readonly ollama: Context.Tag.Service<OllamaClient>
  readonly tools: Context.Tag.Service<ToolBox>
  /** One commit of what has happened. */
  readonly record: (progress: TaskProgress) => Effect.Effect<void, StoreFailed>
}
