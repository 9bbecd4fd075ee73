import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Option, Stream, SubscriptionRef } from "effect"
import { type Caller, maySee } from "../../src/domain/Caller.ts"
import { RequestRefused } from "../../src/domain/Problem.ts"
import { SessionId } from "../../src/domain/Session.ts"
import { isTerminal, Task, TaskId } from "../../src/domain/Task.ts"
import type { StoreFailed } from "../../src/store/StoreFailed.ts"
import { type TaskRequest, Tasks } from "../../src/task/Tasks.ts"

/** The controls of a `Tasks` in memory that runs nothing: what becomes of a task is up to the test. */
export class TasksFake extends Context.Tag("test/TasksFake")<
  TasksFake,
  {
    readonly change: (id: string, change: Partial<Task>) => Effect.Effect<void>
    /** Ends the task: `endedAt` is set. */
    readonly finish: (id: string, status: "completed" | "failed" | "cancelled", result: string) => Effect.Effect<void>
    /** Drops the task, as time does. */
    readonly expire: (id: string) => Effect.Effect<void>
    readonly submitted: Effect.Effect<ReadonlyArray<TaskRequest>>
    readonly refusals: Effect.Effect<ReadonlyArray<RequestRefused>>
    readonly all: Effect.Effect<ReadonlyArray<Task>>
    /** From now on every call fails so, or none does. */
    readonly breakStore: (failure: Option.Option<StoreFailed>) => Effect.Effect<void>
    /** Runs before each submit, for tests that hold it up or let it die. */
    readonly beforeSubmit: (effect: Effect.Effect<void>) => Effect.Effect<void>
    /** How often anything was asked of `Tasks`. */
    readonly calls: Effect.Effect<number>
  }
>() {
  static readonly layer = Layer.effectContext(
    Effect.sync(() => {
      const entries = new Map<string, SubscriptionRef.SubscriptionRef<Task>>()
      const submitted: Array<TaskRequest> = []
      const refusals: Array<RequestRefused> = []
      let failure = Option.none<StoreFailed>()
      let before: Effect.Effect<void> = Effect.void
      let calls = 0

      const working = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | StoreFailed> =>
        Effect.suspend((): Effect.Effect<A, E | StoreFailed> => {
          calls += 1
          return Option.isSome(failure) ? Effect.fail(failure.value) : effect
        })
      const all = Effect.suspend(() => Effect.all([...entries.values()].map((entry) => SubscriptionRef.get(entry))))
      const entryOf = (id: string) =>
        Effect.suspend(() => Effect.orDieWith(Effect.fromNullable(entries.get(id)), () => new Error(`no task ${id}`)))
      const seen = (id: string, caller: Caller) =>
        Effect.map(all, (tasks) =>
          Option.fromNullable(tasks.find((task) => task.id === id && maySee(caller, task.owner)))
        )
      const change = (id: string, patch: Partial<Task>) =>
        Effect.flatMap(entryOf(id), (entry) =>
          SubscriptionRef.update(entry, (task) => new Task({ ...task, updatedAt: task.updatedAt + 1, ...patch }))
        )
      const finish = (id: string, status: "completed" | "failed" | "cancelled", result: string) =>
        Effect.flatMap(Effect.flatMap(entryOf(id), SubscriptionRef.get), ({ updatedAt, completedSteps }) =>
          change(id, {
            status,
            result,
            currentTask: "",
            updatedAt: updatedAt + 1,
            endedAt: updatedAt + 1,
            completedSteps: status === "completed" ? 1 : completedSteps
          })
        )
      const refused = (refusal: RequestRefused) => Effect.sync(() => void refusals.push(refusal))

      const controls = TasksFake.of({
        change,
        finish,
        expire: (id) => Effect.sync(() => void entries.delete(id)),
        submitted: Effect.sync(() => [...submitted]),
        refusals: Effect.sync(() => [...refusals]),
        all,
        breakStore: (next) =>
          Effect.sync(() => {
            failure = next
          }),
        beforeSubmit: (effect) =>
          Effect.sync(() => {
            before = effect
          }),
        calls: Effect.sync(() => calls)
      })
      const tasks = Tasks.of({
        submit: (request) =>
          working(
            Effect.gen(function* () {
              yield* before
              const known = yield* all
              const problems = problemsOf(
                request,
                known.map((task) => task.sessionId)
              )
              if (problems !== undefined) {
                yield* refused(problems)
                return yield* problems
              }
              submitted.push(request)
              const task = newTask(request, known.length)
              entries.set(task.id, yield* SubscriptionRef.make(task))
              return task
            })
          ),
        get: (id, caller) => working(seen(id, caller)),
        cancel: (id, caller) =>
          working(
            Effect.gen(function* () {
              const found = yield* seen(id, caller)
              if (Option.isNone(found) || isTerminal(found.value.status)) return found
              yield* found.value.status === "queued"
                ? finish(id, "cancelled", "")
                : change(id, { cancelRequested: true })
              return yield* seen(id, caller)
            })
          ),
        watch: (id, caller) =>
          working(
            Effect.flatMap(
              seen(id, caller),
              Option.match({
                onNone: () => Effect.succeedNone,
                onSome: () =>
                  Effect.map(entryOf(id), (entry) =>
                    Option.some(Stream.takeUntil(entry.changes, (task) => isTerminal(task.status)))
                  )
              })
            )
          ),
        list: (filter, caller) =>
          working(
            Effect.map(all, (known) =>
              known
                .filter((task) => maySee(caller, task.owner))
                .toReversed()
                .slice(0, filter.limit)
            )
          ),
        refused
      })
      return Context.make(TasksFake, controls).pipe(Context.add(Tasks, tasks))
    })
  )
}

const newTask = (request: TaskRequest, seq: number) =>
  new Task({
    id: TaskId.make(randomUUID()),
    seq,
    sessionId: SessionId.make(request.sessionId?.toLowerCase() ?? randomUUID()),
    owner: request.caller.token,
    status: "queued",
    cancelRequested: false,
    completedSteps: 0,
    plannedSteps: 1,
    currentTask: "",
    usage: { input: 0, output: 0 },
    criticalPathTokens: 0,
    result: "",
    createdAt: 1_790_000_000_000 + seq,
    updatedAt: 1_790_000_000_000 + seq,
    endedAt: null
  })

/** The rules on values that the real `Tasks` has, in short words. */
const problemsOf = (request: TaskRequest, sessions: ReadonlyArray<string>) => {
  const rules = [
    ["request", request.request.trim() !== ""],
    ["temperature", request.temperature === null || (request.temperature >= 0 && request.temperature <= 2)],
    ["session_id", request.sessionId === null || sessions.includes(request.sessionId.toLowerCase())],
    ["images", request.images.every((image) => image.mimeType === "image/png")]
  ] as const
  const problems = rules
    .filter(([, holds]) => !holds)
    .map(([field]) => ({ field, text: { ja: `${field} が正しくありません。`, en: `${field} is not right.` } }))
  const [first, ...others] = [...(request.problems ?? []), ...problems]
  return first === undefined ? undefined : new RequestRefused({ problems: [first, ...others] })
}
