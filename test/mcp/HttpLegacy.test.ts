import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Layer } from "effect"
import { TasksFake } from "../support/TasksFake.ts"
import { openServer } from "./HttpPeer.ts"
import { legacy } from "./Messages.ts"
import { settingsLayer } from "./TestSettings.ts"

describe("HTTP for clients of the initialize era", () => {
  it.scopedLive("a method that is not offered is an answer and no broken transport", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      for (const method of ["resources/list", "logging/setLevel", "tasks/get", "no/such"]) {
        const reply = yield* http.post(legacy(1, method, { taskId: "x" }))
        assert.deepStrictEqual([reply.status, reply.json.error.code], [200, -32601], method)
      }
      const noted = yield* http.post({ jsonrpc: "2.0", method: "no/such" })
      assert.deepStrictEqual([noted.status, noted.headers["content-length"]], [202, "0"])

      const client = new Client({ name: "t", version: "1" })
      const requestInit = { headers: { authorization: `Bearer ${http.token}` } }
      const code = yield* Effect.promise(async () => {
        await client.connect(new StreamableHTTPClientTransport(new URL(http.url), { requestInit }))
        return client
          .request({ method: "resources/list" }, ResultSchema)
          .catch((error: { readonly code: unknown }) => error.code)
      })
      assert.strictEqual(code, -32601)
      yield* Effect.promise(() => client.close())
    }).pipe(Effect.provide(Layer.merge(TasksFake.layer, settingsLayer())))
  )
})
