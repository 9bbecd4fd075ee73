import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { StoreFailed } from "../../src/store/StoreFailed.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { call, legacy, modern, withTasks } from "./Messages.ts"
import { openPipe, type Pipe } from "./Pipe.ts"
import { settingsLayer } from "./TestSettings.ts"

const layer = Layer.merge(TasksFake.layer, settingsLayer())

const subscriptionId = "io.modelcontextprotocol/subscriptionId"

const listen = (id: string | number, taskIds: unknown) =>
  withTasks(id, "subscriptions/listen", { notifications: { taskIds } })

const newTask = (pipe: Pipe) =>
  Effect.map(pipe.ask(withTasks("new", "tools/call", call("agent_run", { request: "hi" }))), (reply) =>
    String(reply.result.taskId)
  )

describe("TaskSubscriptions", () => {
  it.scopedLive("acknowledges, tells each task as it is, every change, and ends with the request's result", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const fake = yield* TasksFake
      const id = yield* newTask(pipe)
      yield* pipe.send(listen("sub", [id, "unknown", id]))
      const acknowledged = yield* pipe.next
      assert.deepStrictEqual(acknowledged, {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { taskIds: [id] }, _meta: { [subscriptionId]: "sub" } }
      } as never)
      const snapshot = yield* pipe.next
      assert.strictEqual(snapshot.method, "notifications/tasks")
      assert.deepInclude(snapshot.params, {
        taskId: id,
        status: "working",
        statusMessage: "タスクは実行待ちです。",
        ttlMs: null,
        _meta: { [subscriptionId]: "sub" }
      })
      yield* fake.change(id, { status: "running", currentTask: "shell npm test" })
      assert.strictEqual((yield* pipe.next).params.statusMessage, "shell npm test")
      yield* fake.finish(id, "completed", "done")
      const last = (yield* pipe.next).params
      const got = (yield* pipe.ask(withTasks(1, "tasks/get", { taskId: id }))).result
      assert.strictEqual(last.status, "completed")
      assert.deepStrictEqual(last.result, got.result)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("ends once all tasks are over, and at once when none is known", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const fake = yield* TasksFake
      const [first, second] = [yield* newTask(pipe), yield* newTask(pipe)]
      yield* pipe.send(listen(7, [first, second]))
      yield* pipe.next
      yield* pipe.next
      yield* pipe.next
      yield* fake.finish(first, "failed", "no model")
      const failed = (yield* pipe.next).params
      assert.strictEqual(failed.status, "completed")
      assert.isTrue((failed.result as { readonly isError?: boolean }).isError)
      yield* fake.finish(second, "cancelled", "")
      assert.strictEqual((yield* pipe.next).params.status, "cancelled")
      const result = yield* pipe.next
      assert.strictEqual(result.id, 7)
      assert.deepInclude(result.result, { resultType: "complete" })
      assert.deepInclude(result.result._meta as object, { [subscriptionId]: 7 })

      yield* pipe.send(listen(8, ["unknown"]))
      assert.deepStrictEqual((yield* pipe.next).params.notifications, {})
      assert.strictEqual((yield* pipe.next).id, 8)
      yield* pipe.send(listen(9, []))
      assert.deepStrictEqual((yield* pipe.next).params.notifications, {})
      assert.strictEqual((yield* pipe.next).id, 9)
      yield* pipe.send(listen(10, [first]))
      yield* pipe.next
      assert.strictEqual((yield* pipe.next).params.taskId, first)
      assert.strictEqual((yield* pipe.next).id, 10)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("refuses what is no array of strings, and clients that did not declare the extension", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      for (const ids of ["x", 5, null, {}, [1], [null], ["a", {}]]) {
        assert.strictEqual((yield* pipe.ask(listen(1, ids))).error.code, -32602, JSON.stringify(ids))
      }
      const many = Array.from({ length: 1001 }, (_, index) => String(index))
      assert.strictEqual((yield* pipe.ask(listen(1, many))).error.code, -32602)
      const undeclared = modern(2, "subscriptions/listen", { notifications: { taskIds: [] } })
      assert.strictEqual((yield* pipe.ask(undeclared)).error.code, -32021)
      const old = legacy(3, "subscriptions/listen", { notifications: { taskIds: [] } })
      assert.strictEqual((yield* pipe.ask(old)).error.code, -32601)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("after notifications/cancelled nothing more is told, and the id is free again", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const fake = yield* TasksFake
      const id = yield* newTask(pipe)
      yield* pipe.send(listen(1, [id]))
      yield* pipe.next
      yield* pipe.next
      assert.strictEqual((yield* pipe.ask(listen(1, [id]))).error.code, -32600)
      yield* pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
      yield* pipe.ask(modern(2, "tools/list"))
      yield* fake.change(id, { status: "running" })
      yield* pipe.send(listen(1, [id]))
      assert.strictEqual((yield* pipe.next).method, "notifications/subscriptions/acknowledged")
      assert.strictEqual((yield* pipe.next).params.statusMessage, "タスクを実行しています。")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("the server's end gives each subscription its result", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const id = yield* newTask(pipe)
      yield* pipe.send(listen(1, [id]), listen(2, [id]))
      for (let told = 0; told < 4; told++) yield* pipe.next
      pipe.input.end()
      yield* Fiber.join(pipe.server)
      const ended = yield* pipe.rest
      assert.deepStrictEqual(ended.map((reply) => reply.id).sort(), [1, 2])
      assert.isTrue(ended.every((reply) => reply.result.resultType === "complete"))
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("so many may be open, and not one more", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const id = yield* newTask(pipe)
      yield* pipe.send(...Array.from({ length: 1024 }, (_, sub) => listen(sub, [id])))
      assert.strictEqual((yield* pipe.ask(listen("more", [id]))).error.code, -32603)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("a subscription that names no tasks is acknowledged and over, and needs no extension", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      yield* pipe.send(modern(1, "subscriptions/listen", { notifications: { toolsListChanged: true } }))
      assert.deepStrictEqual((yield* pipe.next).params.notifications, {})
      assert.strictEqual((yield* pipe.next).id, 1)
      assert.strictEqual((yield* pipe.ask(modern(2, "subscriptions/listen"))).error.code, -32602)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("a store that fails is the request's error", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const id = yield* newTask(pipe)
      yield* (yield* TasksFake).breakStore(Option.some(new StoreFailed({ reason: "io", cause: new Error("EIO") })))
      const reply = yield* pipe.ask(listen(1, [id]))
      assert.strictEqual(reply.error.code, -32603)
    }).pipe(Effect.provide(layer))
  )
})
