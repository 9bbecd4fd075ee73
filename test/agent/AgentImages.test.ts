import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ImageRef } from "../../src/domain/Image.ts"
import { error, text, toolCall } from "../support/ScriptedOllama.ts"
import { passWait } from "../support/ScriptedWait.ts"
import { harness } from "./harness.ts"

const seeing = { models: [{ name: "eyes", capabilities: ["completion", "tools", "vision"] }] }

const image = (hash: string, bytes = 3) => new ImageRef({ hash, mimeType: "image/png", bytes, width: 64, height: 64 })

describe("AgentLoop, images", () => {
  it.scoped("fails before any chat where the model cannot see the request's images", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([])
      assert.match(yield* failure("look", [image("a")]), /request has images.*scripted has no vision/)
      assert.strictEqual(server.requests.length, 0)
    })
  )

  it.scoped("fails before any chat where an earlier request of the session has images that the model cannot see", () =>
    Effect.gen(function* () {
      const { accept, failure, server } = yield* harness([])
      accept("earlier", [image("a")])
      assert.match(yield* failure("go on"), /earlier request of this session has images.*new session/)
      assert.strictEqual(server.requests.length, 0)
    })
  )

  it.scoped("sends them as standard Base64 in the message that they came with, in every call and later task", () =>
    Effect.gen(function* () {
      const { answer, prompts, store } = yield* harness(
        [toolCall("read_file", { path: "a" }), text("a cat"), text("still a cat")],
        seeing
      )
      store.images.set("a", new Uint8Array([0xfb, 0xff, 0xfe])) // "+//+": not the URL alphabet
      yield* answer("what is it?", [image("a")])
      yield* answer("sure?")
      for (const messages of prompts()) {
        assert.deepStrictEqual(messages[1], { role: "user", content: "what is it?", images: ["+//+"] })
        assert.strictEqual(messages.filter(({ images }) => images !== undefined).length, 1)
      }
    })
  )

  it.scoped("never writes their bytes into what is recorded", () =>
    Effect.gen(function* () {
      const { answer, store } = yield* harness([text("a cat")], seeing)
      store.images.set("a", Buffer.from("picture bytes"))
      yield* answer("what is it?", [image("a")])
      assert.notInclude(JSON.stringify(store.records), Buffer.from("picture bytes").toString("base64"))
    })
  )

  // C12, A28
  it.scoped("says that an image can be the cause where the model's runner stops", () =>
    Effect.gen(function* () {
      const stopped = error(500, "model runner has unexpectedly stopped, this may be due to resource limitations")
      const { failure, store } = yield* harness([], { ...seeing, otherwise: stopped })
      store.images.set("a", new Uint8Array([1, 2, 3]))
      const failing = yield* Effect.fork(failure("look", [image("a")]))
      for (const wait of [500, 1000, 2000, 4000, 8000, 8000, 6500]) yield* passWait(wait)
      assert.match(yield* failing, /unexpectedly stopped.*very small or very large image/)
    })
  )

  // C11: the store leaves out the images of tasks that failed
  it.scoped("says the same where the server cannot read one, and the session can go on without it", () =>
    Effect.gen(function* () {
      const { failure, answer, store } = yield* harness([error(400, "Failed to load image"), text("fine")], seeing)
      store.images.set("a", new Uint8Array([1, 2, 3]))
      assert.match(yield* failure("look", [image("a")]), /Failed to load image.*damaged/)
      const [request] = store.history
      assert.strictEqual(request?.message._tag, "user")
      store.history[0] = { ...request!, message: { ...request!.message, images: [] } as never }
      assert.strictEqual(yield* answer("go on"), "fine")
    })
  )

  // C19
  it.scoped("bounds what a session sends again, and says where images were", () =>
    Effect.gen(function* () {
      const { accept, answer, prompts, store } = yield* harness([text("ten")], seeing)
      for (let n = 0; n < 9; n++) {
        store.images.set(`i${n}`, Buffer.from(`image ${n}`))
        accept(`request ${n}`, [image(`i${n}`, 5 * 2 ** 20)])
      }
      store.images.set("last", Buffer.from("last image"))
      yield* answer("request 9", [image("last", 5 * 2 ** 20)])
      const users = prompts()[0]!.filter(({ role }) => role === "user")
      const sent = users.map(({ images = [] }) => images.length)
      assert.isAtMost(
        sent.reduce((sum, count) => sum + count, 0),
        4
      )
      assert.strictEqual(sent.at(-1), 1)
      assert.match(users[0]?.content ?? "", /^request 0\n\(1 image\(s\).*no longer shown/)
    })
  )

  it.scoped("names an image that is no longer stored instead of sending it", () =>
    Effect.gen(function* () {
      const { answer, prompts } = yield* harness([text("ok")], seeing)
      yield* answer("look", [image("gone")])
      assert.match(prompts()[0]?.[1]?.content ?? "", /no longer shown/)
      assert.isUndefined(prompts()[0]?.[1]?.images)
    })
  )
})
