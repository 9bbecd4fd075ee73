import { Context, Effect, Layer, type Option, type Stream } from "effect"
import type { Caller } from "../domain/Caller.ts"
import type { Problem, RequestRefused } from "../domain/Problem.ts"
import type { SessionId } from "../domain/Session.ts"
import type { Task, TaskStatus } from "../domain/Task.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"

/** An image as it comes in: nothing about it is known yet. */
export interface ImageInput {
  readonly mimeType: string
  readonly dataBase64: string
}

/** A request whose types are right; whether its values are is judged here. `sessionId` is a UUID in any case. */
export interface TaskRequest {
  readonly request: string
  readonly sessionId: string | null
  readonly temperature: number | null
  readonly images: ReadonlyArray<ImageInput>
  readonly caller: Caller
  /** What was wrong with it before it had the right types: it is refused, with these and with what its values add. */
  readonly problems?: ReadonlyArray<Problem>
}

export interface TaskFilter {
  readonly status?: TaskStatus
  readonly sessionId?: SessionId
  readonly limit: number
}

/**
 * The one door to the work: MCP and the commands both come through it. Its layer is in `TasksLive.ts`, so that who
 * only knows the door does not load what is behind it.
 */
export class Tasks extends Context.Tag("sagyo/task/Tasks")<
  Tasks,
  {
    /** The task is on disk when this returns. Refusals go into the logs with the words that the caller gets. */
    readonly submit: (request: TaskRequest) => Effect.Effect<Task, RequestRefused | StoreFailed>
    /** None where there is no such task, where it has expired, or where the caller may not see it. */
    readonly get: (id: string, caller: Caller) => Effect.Effect<Option.Option<Task>, StoreFailed>
    /** The wish is on disk when this returns; the clean-up may go on. A task that is over stays as it is. None as in `get`. */
    readonly cancel: (id: string, caller: Caller) => Effect.Effect<Option.Option<Task>, StoreFailed>
    /** The task as it is now, then each change, until it is over; changes by other processes too. None as in `get`. */
    readonly watch: (
      id: string,
      caller: Caller
    ) => Effect.Effect<Option.Option<Stream.Stream<Task, StoreFailed>>, StoreFailed>
    /** Newest first. */
    readonly list: (filter: TaskFilter, caller: Caller) => Effect.Effect<ReadonlyArray<Task>, StoreFailed>
    /** Writes a refusal that was decided before `submit` (an argument of a wrong type) into the logs. */
    readonly refused: (refusal: RequestRefused, caller: Caller) => Effect.Effect<void>
  }
>() {
  /**
   * Stands in for a layer that is costly to load and to open: the first call builds it, in the scope of this layer,
   * and everybody waits for that one. A build that failed is tried again by the next call.
   */
  static readonly layerOnFirstUse = <E>(
    load: Effect.Effect<Layer.Layer<Tasks, E>>,
    onFailure: (error: E) => StoreFailed
  ) =>
    Layer.scoped(
      Tasks,
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const oneAtATime = yield* Effect.makeSemaphore(1)
        let built: Context.Tag.Service<Tasks> | undefined
        const build = Effect.flatMap(load, (layer) => Layer.buildWithScope(layer, scope)).pipe(
          Effect.map((context) => Context.get(context, Tasks)),
          Effect.mapError(onFailure),
          Effect.tap((tasks) => Effect.sync(() => (built = tasks)))
        )
        const tasks = oneAtATime.withPermits(1)(Effect.suspend(() => (built ? Effect.succeed(built) : build)))
        return {
          submit: (request) => Effect.flatMap(tasks, (_) => _.submit(request)),
          get: (id, caller) => Effect.flatMap(tasks, (_) => _.get(id, caller)),
          cancel: (id, caller) => Effect.flatMap(tasks, (_) => _.cancel(id, caller)),
          watch: (id, caller) => Effect.flatMap(tasks, (_) => _.watch(id, caller)),
          list: (filter, caller) => Effect.flatMap(tasks, (_) => _.list(filter, caller)),
          refused: (refusal, caller) =>
            Effect.flatMap(tasks, (_) => _.refused(refusal, caller)).pipe(
              Effect.catchAll((error) =>
                Effect.logError("a refusal could not be stored", { reason: error.reason, refusal })
              )
            )
        }
      })
    )
}
