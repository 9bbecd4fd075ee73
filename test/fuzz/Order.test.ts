import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import fc from "fast-check"
import { openServer } from "../mcp/HttpPeer.ts"
import { call, legacy, modern, withTasks } from "../mcp/Messages.ts"
import { openPipe } from "../mcp/Pipe.ts"
import type { Reply } from "../mcp/Talk.ts"
import { settingsLayer } from "../mcp/TestSettings.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { forgetTasks, holds, propertyTimeout } from "./Runs.ts"

const layer = Layer.merge(TasksFake.layer, settingsLayer({ locale: "en" }))

interface Known {
  readonly id: string
  status: "queued" | "completed" | "failed" | "cancelled"
}

const clients = { modern, withTasks, legacy } as const

const step = fc.record({
  what: fc.constantFrom("run", "status", "get", "update", "cancel", "finish"),
  client: fc.constantFrom("modern", "withTasks", "legacy"),
  over: fc.constantFrom("stdio", "http"),
  /** Which of the tasks so far; where there are fewer, one that does not exist. */
  which: fc.nat({ max: 4 }),
  end: fc.constantFrom("completed", "failed", "cancelled")
})

const nobody = "99999999-9999-4999-8999-999999999999"

const wire = { queued: "working", completed: "completed", failed: "completed", cancelled: "cancelled" } as const

/** What a `tasks/*` request must be answered with, by the client and by what is known of the task. */
const refusalOf = (client: keyof typeof clients, task: Known | undefined): number | undefined => {
  if (client === "legacy") return -32601
  if (client === "modern") return -32021
  return task === undefined ? -32602 : undefined
}

describe("requests in any order", () => {
  it.scopedLive(
    "over both transports and by all kinds of client, tasks are what was made of them",
    () =>
      Effect.gen(function* () {
        const http = yield* openServer
        const pipe = yield* openPipe
        const fake = yield* TasksFake
        let last = 0
        yield* holds(fc.array(step, { maxLength: 12 }), (steps) =>
          Effect.gen(function* () {
            const tasks: Array<Known> = []
            for (const { what, client, over, which, end } of steps) {
              const task = tasks[which]
              const ask = (method: string, params: object): Effect.Effect<Reply> => {
                last += 1
                const request = clients[client](last, method, params as never)
                return over === "stdio" ? pipe.ask(request) : Effect.map(http.post(request), ({ json }) => json)
              }
              if (what === "finish") {
                if (task?.status !== "queued") continue
                yield* fake.finish(task.id, end, "the result")
                task.status = end
              } else if (what === "run") {
                const { result } = yield* ask("tools/call", call("agent_run", { request: "hi" }))
                const text = result.content?.[0]?.text ?? ""
                const id = client === "withTasks" ? String(result.taskId) : /^task_id: (\S+)\n/.exec(text)?.[1]
                assert.strictEqual(
                  result.resultType,
                  { modern: "complete", withTasks: "task", legacy: undefined }[client]
                )
                tasks.push({ id: id ?? "", status: "queued" })
              } else if (what === "status") {
                const { result } = yield* ask("tools/call", call("agent_status", { task_id: task?.id ?? nobody }))
                const status = task === undefined ? "failed" : task.status
                assert.include(result.content[0]?.text, `\nstatus: ${status}\n`)
                assert.isUndefined(result.isError)
              } else {
                const reply = yield* ask(`tasks/${what}`, { taskId: task?.id ?? nobody, inputResponses: {} })
                assert.strictEqual(reply.error?.code, refusalOf(client, task))
                if (reply.error !== undefined || task === undefined) continue
                assert.strictEqual(reply.result.resultType, "complete")
                if (what === "get") assert.strictEqual(reply.result.status, wire[task.status])
                else assert.notProperty(reply.result, "status")
                if (what === "cancel" && task.status === "queued") task.status = "cancelled"
              }
            }
            yield* forgetTasks
          })
        )
      }).pipe(Effect.provide(layer)),
    propertyTimeout
  )
})
