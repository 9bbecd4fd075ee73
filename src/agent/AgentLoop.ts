import { Context, type Effect, Schema } from "effect"
import type { RunnableTask } from "../domain/Task.ts"
import type { StoreFailed } from "../store/Sql.ts"

/** The work could not be done; `reason` says why and what mends it, in the task's language. */
export class AgentFailed extends Schema.TaggedError<AgentFailed>()("AgentFailed", { reason: Schema.String }) {}

export class AgentLoop extends Context.Tag("sagyo/agent/AgentLoop")<
  AgentLoop,
  {
    /**
     * Works on the task until it has an answer, and gives it. Every turn and every tool result is
     * stored before the next begins. Who calls records the end; interruption stops the model and every process.
     */
    readonly run: (task: RunnableTask) => Effect.Effect<string, AgentFailed | StoreFailed>
  }
>() {}
