import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TasksFake } from "../support/TasksFake.ts"
import { openServer } from "./HttpPeer.ts"
import { modern } from "./Messages.ts"
import { settingsLayer } from "./TestSettings.ts"

const listen = modern("sub", "subscriptions/listen", { notifications: { toolsListChanged: true } })

describe("a subscription to what never changes", () => {
  it.scopedLive("is acknowledged as empty on the stream, and over at once", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const streamed = yield* http.post(listen)
      assert.strictEqual(streamed.headers["content-type"], "text/event-stream")
      const messages = streamed.text
        .trim()
        .split("\n\n")
        .map((event) => JSON.parse(event.replace(/^event: message\ndata: /, "")))
      assert.deepStrictEqual(
        messages.map((message) => message.method ?? message.id),
        ["notifications/subscriptions/acknowledged", "sub"]
      )
      assert.deepStrictEqual(messages[0].params.notifications, {})
      const collapsed = yield* http.post(listen, { accept: "application/json" })
      assert.deepStrictEqual([collapsed.status, collapsed.json.id], [200, "sub"])
    }).pipe(Effect.provide(Layer.merge(TasksFake.layer, settingsLayer())))
  )
})
