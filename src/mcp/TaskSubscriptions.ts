import {
  CLIENT_CAPABILITIES_META_KEY,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY
} from "@modelcontextprotocol/server"
import { Deferred, Effect, Option, Stream } from "effect"
import { AppConfig, type Settings } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { Task } from "../domain/Task.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { Tasks } from "../task/Tasks.ts"
import { type ErrorReply, errorReply, isObject, type Request, type RequestId } from "./JsonRpc.ts"
import { InvalidParams, protocolErrorOf, TasksUndeclared, TooManySubscriptions } from "./Refusals.ts"
import { serverInfo } from "./ServerInfo.ts"
import { declaresTasks, detailedTask } from "./TasksExtension.ts"

type Refused = TasksUndeclared | InvalidParams | TooManySubscriptions | StoreFailed

/** The subscriptions to tasks of one server. */
export interface TaskSubscriptions {
  /**
   * The messages of one subscription: the acknowledgement, each task as it is, every change, and the
   * request's result when all tasks are over or the server ends. Whoever stops reading unsubscribes.
   */
  readonly open: (
    request: Request,
    caller: Caller
  ) => Effect.Effect<Stream.Stream<object, never, Tasks | AppConfig>, Refused, Tasks | AppConfig>
  /** Ends all of them, each with its result. */
  readonly end: Effect.Effect<void>
}

const maxOpen = 1024

const maxTaskIds = 1000

/** Whether a request, of a modern client, opens a subscription. */
export const isListen = ({ method }: Request): boolean => method === "subscriptions/listen"

export const makeTaskSubscriptions: Effect.Effect<TaskSubscriptions> = Effect.gen(function* () {
  const ending = yield* Deferred.make<void>()
  let open = 0
  const place = Effect.acquireRelease(
    Effect.sync(() => {
      open += 1
    }),
    () =>
      Effect.sync(() => {
        open -= 1
      })
  )
  return {
    end: Effect.asVoid(Deferred.succeed(ending, undefined)),
    open: Effect.fn("TaskSubscriptions.open")(function* (request: Request, caller: Caller) {
      const taskIds = yield* taskIdsOf(request)
      if (taskIds !== undefined && !declaresTasks(capabilitiesOf(request))) return yield* new TasksUndeclared()
      if (open >= maxOpen) return yield* new TooManySubscriptions()
      const settings = yield* AppConfig
      const tasks = yield* Tasks
      const found = yield* Effect.forEach(taskIds ?? [], (id) =>
        Effect.map(
          tasks.watch(id, caller),
          Option.map((changes) => [id, changes] as const)
        )
      )
      const known = found.flatMap(Option.toArray)
      const changes = Stream.mergeAll(
        known.map(([, stream]) => stream),
        { concurrency: "unbounded" }
      ).pipe(
        Stream.map((task) => notification(request.id, task, settings)),
        Stream.interruptWhenDeferred(ending)
      )
      const acknowledged = Stream.make(
        acknowledgement(
          request.id,
          known.map(([id]) => id)
        )
      )
      return Stream.unwrapScoped(Effect.as(place, acknowledged)).pipe(
        Stream.concat(changes),
        Stream.concat(Stream.make(result(request.id))),
        Stream.catchAll((error) => Stream.make(refusalReply(error, request.id, settings)))
      )
    })
  }
})

export const refusalReply = (error: Refused, id: RequestId, { locale }: Settings): ErrorReply => {
  const { code, message, data } = protocolErrorOf(error, locale)
  return errorReply(code, message, id, data)
}

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
