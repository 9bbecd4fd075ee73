import { Context, Effect, Exit, Layer, Option, Ref, Scope, Stream } from "effect"
import { type AgentFailed, AgentLoop } from "../../src/agent/AgentLoop.ts"
import type { Settings } from "../../src/config/AppConfig.ts"
import type { Caller } from "../../src/domain/Caller.ts"
import { isTerminal, type RunnableTask, type Task } from "../../src/domain/Task.ts"
import { RunnerRepo } from "../../src/store/RunnerRepo.ts"
import { Sql } from "../../src/store/Sql.ts"
import type { StoreFailed } from "../../src/store/StoreFailed.ts"
import { TaskRepo } from "../../src/store/TaskRepo.ts"
import { TaskQueue } from "../../src/task/TaskQueue.ts"
import { Tasks } from "../../src/task/Tasks.ts"
import { testTasks } from "../support/TestStore.ts"

export const caller: Caller = { token: null, via: "cli" }
export const ask = (request: string, sessionId: string | null = null) => ({
  request,
  sessionId,
  temperature: null,
  images: [],
  caller
})

/** An agent that does what `work` says and notes which tasks reached it. */
export const agentThat = (
  work: (task: RunnableTask) => Effect.Effect<string, AgentFailed | StoreFailed>,
  seen: Ref.Ref<ReadonlyArray<string>>
) =>
  Layer.succeed(AgentLoop, {
    run: (task: RunnableTask) =>
      Effect.zipRight(
        Ref.update(seen, (all) => [...all, task.request]),
        work(task)
      )
  })

/** One process: its services, until `stop`. */
export const processOn = (settings: Settings, agent: Layer.Layer<AgentLoop>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(testTasks(settings, agent), scope)
    const queue = Context.get(context, TaskQueue)
    return {
      context,
      tasks: Context.get(context, Tasks),
      sql: Context.get(context, Sql).sql,
      repo: Context.get(context, TaskRepo),
      runner: Context.get(context, RunnerRepo),
      run: Effect.forkIn(queue.run(Effect.succeed(false)), scope),
      stop: Scope.close(scope, Exit.void)
    }
  })

export const over = (tasks: Context.Tag.Service<Tasks>, id: string): Effect.Effect<Task> =>
  tasks.watch(id, caller).pipe(
    Effect.map(Option.getOrThrow),
    Effect.flatMap((stream) => Stream.runLast(Stream.filter(stream, (task) => isTerminal(task.status)))),
    Effect.map(Option.getOrThrow),
    Effect.orDie
  )
