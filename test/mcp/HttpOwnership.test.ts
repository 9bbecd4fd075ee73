import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sha256 } from "../../src/mcp/HttpTokensFile.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { temporaryFolder } from "../support/TestSettings.ts"
import { openServer } from "./HttpPeer.ts"
import { call, legacy, withTasks } from "./Messages.ts"
import { settingsLayer } from "./TestSettings.ts"

const layer = Layer.suspend(() => {
  const tokensFile = join(temporaryFolder(), "tokens")
  writeFileSync(tokensFile, `alice: ${sha256("alice-token")}\nbob: ${sha256("bob-token")}\n`)
  return Layer.merge(TasksFake.layer, settingsLayer({ locale: "en", http: { tokensFile } }))
})

const as = (token: string) => ({ authorization: `Bearer ${token}` })

describe("Http ownership", () => {
  it.scopedLive("a task belongs to the token that created it, and to another one it does not exist", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const created = yield* http.post(
        withTasks(1, "tools/call", call("agent_run", { request: "hi" })),
        as("alice-token")
      )
      const taskId = String(created.json.result.taskId)
      const [task] = yield* (yield* TasksFake).all
      assert.strictEqual(task?.owner, "alice")

      const unknown = "00000000-0000-4000-8000-000000000000"
      const asked = (method: string, id: string) =>
        Effect.map(http.post(withTasks(2, method, { taskId: id }), as("bob-token")), (reply) => reply.text)
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        assert.strictEqual(yield* asked(method, taskId), yield* asked(method, unknown), method)
      }
      const status = (id: string, token: string) =>
        Effect.map(
          http.post(legacy(3, "tools/call", call("agent_status", { task_id: id })), as(token)),
          (reply) => reply.json.result.content[0]?.text ?? ""
        )
      const others = yield* status(taskId, "bob-token")
      assert.strictEqual(others.replaceAll(taskId, unknown), yield* status(unknown, "bob-token"))
      const listen = (id: string) =>
        Effect.map(
          http.post(withTasks(4, "subscriptions/listen", { notifications: { taskIds: [id] } }), as("bob-token")),
          (reply) => reply.text
        )
      assert.strictEqual(yield* listen(taskId), yield* listen(unknown))

      assert.include(yield* status(taskId, "alice-token"), "status: queued")
      assert.include(yield* status(taskId, http.token), "status: queued")
      const cancelled = yield* http.post(withTasks(5, "tasks/cancel", { taskId }))
      assert.deepInclude(cancelled.json.result, { resultType: "complete" })
      assert.include(yield* status(taskId, "alice-token"), "status: cancelled")
    }).pipe(Effect.provide(layer))
  )
})
