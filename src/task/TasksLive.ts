import { Clock, Effect, Layer, Option, Schema, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { type Caller, maySee, nameOf } from "../domain/Caller.ts"
import { isTerminal, Task, TaskId } from "../domain/Task.ts"
import { StoreChanges } from "../store/StoreChanges.ts"
import { TaskIntake } from "../store/TaskIntake.ts"
import { TaskRepo } from "../store/TaskRepo.ts"
import { cancelled } from "./Closing.ts"
import { ImageValidator } from "./ImageValidator.ts"
import { RefusalLog } from "./RefusalLog.ts"
import { checkRequest, refusalOf } from "./RequestRules.ts"
import { type TaskFilter, type TaskRequest, Tasks } from "./Tasks.ts"

/** By what is in them: `Stream.changes` takes two reads of the same token counts for different ones. */
const sameTask = Schema.equivalence(Task)

/** `Tasks` over the store. */
export const layer = Layer.effect(
  Tasks,
  Effect.gen(function* () {
    const config = yield* AppConfig
    const images = yield* ImageValidator
    const intake = yield* TaskIntake
    const repo = yield* TaskRepo
    const changes = yield* StoreChanges
    const refusals = yield* RefusalLog

    const accept = (request: TaskRequest) =>
      Effect.gen(function* () {
        const checked = yield* checkRequest(request, images.validate)
        return yield* intake
          .accept({
            ...checked,
            settings: config.task,
            caller: request.caller,
            maxQueued: config.mcp.tasks.maxQueued
          })
          .pipe(
            Effect.catchTags({
              SessionUnknown: refusalOf.sessionUnknown,
              SessionElsewhere: refusalOf.sessionElsewhere,
              QueueFull: refusalOf.queueFull
            })
          )
      })

    const get = (id: string, caller: Caller) =>
      Effect.gen(function* () {
        const known = Schema.decodeUnknownOption(TaskId)(id.toLowerCase())
        if (Option.isNone(known)) return Option.none<Task>()
        const now = yield* Clock.currentTimeMillis
        const expired = (task: Task) => task.endedAt !== null && task.endedAt + config.mcp.tasks.ttl <= now
        return Option.filter(yield* repo.get(known.value), (task) => maySee(caller, task.owner) && !expired(task))
      })

    return {
      // submit and get have no span of their own: measured, making one costs a third of what they do
      submit: (request) =>
        accept(request).pipe(
          Effect.tap((task) =>
            Effect.logInfo("accepted", { task: task.id, session: task.sessionId, caller: nameOf(request.caller) })
          ),
          Effect.tapErrorTag("RequestRefused", (refusal) => refusals.write(refusal, request.caller)),
          Effect.tapErrorTag("StoreFailed", (error) =>
            Effect.logError("a request could not be stored", { reason: error.reason })
          )
        ),
      get,
      cancel: Effect.fn("Tasks.cancel")(function* (id: string, caller: Caller) {
        const before = yield* get(id, caller)
        if (Option.isNone(before) || isTerminal(before.value.status)) return before
        yield* repo.requestCancel(before.value.id, nameOf(caller), cancelled)
        return yield* repo.get(before.value.id)
      }),
      watch: Effect.fn("Tasks.watch")((id: string, caller: Caller) =>
        Effect.map(
          get(id, caller),
          Option.map((task) =>
            changes.any.pipe(
              Stream.mapEffect(() => repo.get(task.id)),
              Stream.filterMap((now) => now),
              Stream.changesWith(sameTask),
              Stream.takeUntil((now) => isTerminal(now.status))
            )
          )
        )
      ),
      list: Effect.fn("Tasks.list")((filter: TaskFilter, caller: Caller) =>
        repo.list({ ...filter, owner: caller.token })
      ),
      refused: refusals.write
    }
  })
)
