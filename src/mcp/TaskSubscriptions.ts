import {
  CLIENT_CAPABILITIES_META_KEY,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY
} from "@modelcontextprotocol/server"
import { Data, Deferred, Effect, Option, Stream } from "effect"
import { AppConfig, type Settings } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { Task } from "../domain/Task.ts"
import { Tasks } from "../task/Tasks.ts"
import { type ErrorReply, errorReply, isObject, type Request, type RequestId } from "./JsonRpc.ts"
import { InvalidParams, protocolErrorOf, TasksUndeclared, TooManySubscriptions } from "./Refusals.ts"
import { serverInfo } from "./ServerInfo.ts"
import { declaresTasks, detailedTask } from "./TasksExtension.ts"

/** A subscription that cannot be opened, or not be kept up; `reply` is the request's answer. */
export class SubscriptionRefused extends Data.TaggedError("SubscriptionRefused")<{ readonly reply: ErrorReply }> {}

/** The subscriptions of one server. The SDK's own drop the names of tasks. */
export interface TaskSubscriptions {
  /**
   * Tells one subscription's messages: the acknowledgement, each task as it is, every change, and the
   * request's result when all tasks are over or the server ends. No faster than `tell` takes them.
   */
  readonly serve: (
    request: Request,
    caller: Caller,
    tell: (message: object) => Effect.Effect<void>
  ) => Effect.Effect<void, SubscriptionRefused, Tasks | AppConfig>
  /** Ends all of them, each with its result. */
  readonly end: Effect.Effect<void>
}

const maxOpen = 1024

const maxTaskIds = 1000

export const makeTaskSubscriptions: Effect.Effect<TaskSubscriptions> = Effect.gen(function* () {
  const ending = yield* Deferred.make<void>()
  const places = yield* Effect.makeSemaphore(maxOpen)
  const inAPlace = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      places.withPermitsIfAvailable(1)(effect),
      Option.match({ onNone: () => new TooManySubscriptions(), onSome: Effect.succeed })
    )

  const serve = Effect.fn("TaskSubscriptions.serve")(function* (
    request: Request,
    caller: Caller,
    tell: (message: object) => Effect.Effect<void>
  ) {
    const taskIds = yield* taskIdsOf(request)
    if (taskIds !== undefined && !declaresTasks(capabilitiesOf(request))) return yield* new TasksUndeclared()
    const settings = yield* AppConfig
    const tasks = yield* Tasks
    const found = yield* Effect.forEach(taskIds ?? [], (id) =>
      Effect.map(
        tasks.watch(id, caller),
        Option.map((changes) => [id, changes] as const)
      )
    )
    const known = found.flatMap(Option.toArray)
    const knownIds = known.map(([id]) => id)
    yield* tell(acknowledgement(request.id, knownIds))
    const told = ([, changes]: (typeof known)[number]) =>
      Stream.runForEach(changes, (task) => tell(notification(request.id, task, settings)))
    yield* Effect.forEach(known, told, { concurrency: "unbounded", discard: true }).pipe(
      Effect.raceFirst(Deferred.await(ending))
    )
    yield* tell(result(request.id))
  })
  return {
    end: Effect.asVoid(Deferred.succeed(ending, undefined)),
    serve: (request, caller, tell) =>
      inAPlace(serve(request, caller, tell)).pipe(
        Effect.catchAll((error) =>
          Effect.flatMap(AppConfig, ({ locale }) => {
            const { code, message, data } = protocolErrorOf(error, locale)
            return new SubscriptionRefused({ reply: errorReply(code, message, request.id, data) })
          })
        )
      )
  }
})

const capabilitiesOf = ({ params }: Request): unknown =>
  isObject(params?._meta) ? params._meta[CLIENT_CAPABILITIES_META_KEY] : undefined

/** Undefined where the client names no tasks: it asks for changes of lists, which never change here. */
const taskIdsOf = ({ params }: Request): Effect.Effect<ReadonlyArray<string> | undefined, InvalidParams> => {
  const filter = params?.notifications
  if (!isObject(filter)) return new InvalidParams({ message: "notifications is required and must be an object" })
  const asked = filter.taskIds
  if (asked === undefined) return Effect.succeed(undefined)
  if (!Array.isArray(asked) || !asked.every((id) => typeof id === "string")) {
    return new InvalidParams({ message: "notifications.taskIds must be an array of strings" })
  }
  const ids = [...new Set<string>(asked)]
  return ids.length > maxTaskIds
    ? new InvalidParams({ message: `notifications.taskIds may name ${maxTaskIds} tasks` })
    : Effect.succeed(ids)
}

const acknowledgement = (id: RequestId, taskIds: ReadonlyArray<string>): object => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { notifications: taskIds.length > 0 ? { taskIds } : {}, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } }
})

const notification = (id: RequestId, task: Task, settings: Settings): object => ({
  jsonrpc: "2.0",
  method: "notifications/tasks",
  params: { ...detailedTask(task, settings), _meta: { [SUBSCRIPTION_ID_META_KEY]: id } }
})

/** The specification's pages disagree on whether a subscription that ends has a result; clients wait for one. */
const result = (id: RequestId): object => ({
  jsonrpc: "2.0",
  id,
  result: {
    resultType: "complete",
    _meta: { [SUBSCRIPTION_ID_META_KEY]: id, [SERVER_INFO_META_KEY]: serverInfo }
  }
})
