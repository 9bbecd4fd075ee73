import { readFileSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type Home, makeHome, start, startServe } from "./mcp/BuiltProgram.ts"
import { call, legacy, modern, withTasks } from "./mcp/Messages.ts"
import { makePng } from "./support/Png.ts"
import { hang, scriptedOllama, text } from "./support/ScriptedOllama.ts"

interface Answer {
  readonly status: number
  readonly result: { readonly content: ReadonlyArray<{ readonly text: string }>; readonly isError?: boolean } & Record<
    string,
    unknown
  >
}

const tokenOf = (home: Home) => readFileSync(join(home.dataDir, "token"), "utf8").trim()

const post = (url: string, home: Home, message: object) =>
  Effect.promise(async (): Promise<Answer> => {
    const { method, params } = message as { readonly method: string; readonly params?: Record<string, unknown> }
    const named = params?.name ?? params?.taskId
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tokenOf(home)}`,
        "content-type": "application/json",
        ...(params?._meta !== undefined && {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(typeof named === "string" && { "mcp-name": named })
        })
      },
      body: JSON.stringify(message)
    })
    const { result } = (await response.json()) as Answer
    return { status: response.status, result }
  })

/** Subscribes to a task; the subscription is open when this gives the response. */
const listen = (url: string, home: Home, taskId: string) =>
  Effect.promise(() =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tokenOf(home)}`,
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen"
      },
      body: JSON.stringify(withTasks("over", "subscriptions/listen", { notifications: { taskIds: [taskId] } }))
    })
  )

/** Reads a subscription's stream until the task is over. */
const over = (url: string, home: Home, taskId: string) =>
  Effect.flatMap(listen(url, home, taskId), (response) => Effect.promise(() => response.text()))

describe("sagyo serve", () => {
  it.scopedLive("says where it listens, and runs a task from the request to the result", () =>
    Effect.gen(function* () {
      const ollama = yield* scriptedOllama([text("All done.")])
      const home = makeHome(ollama.url)
      const { url } = yield* startServe(home.config)
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
      assert.strictEqual(statSync(join(home.dataDir, "token")).mode & 0o777, 0o600)
      const created = yield* post(url, home, withTasks(1, "tools/call", call("agent_run", { request: "hi" })))
      const taskId = String(created.result.taskId)
      const told = yield* over(url, home, taskId)
      assert.match(told, /"status":"completed"/)
      const status = yield* post(url, home, legacy(2, "tools/call", call("agent_status", { task_id: taskId })))
      assert.match(status.result.content[0]?.text ?? "", /\nresult: All done\.$/)
      const health = yield* Effect.promise(() => fetch(url.replace(/\/mcp$/, "/readyz")))
      assert.strictEqual(health.status, 200)
    })
  )

  it.scopedLive("nobody gets in without the token, nor with one of another data folder", () =>
    Effect.gen(function* () {
      const [home, other] = [makeHome("http://127.0.0.1:1"), makeHome("http://127.0.0.1:1")]
      const [{ url }] = [yield* startServe(home.config), yield* startServe(other.config)]
      assert.notStrictEqual(tokenOf(home), tokenOf(other))
      assert.strictEqual((yield* post(url, other, legacy(1, "tools/list"))).status, 401)
      assert.strictEqual((yield* post(url, home, legacy(1, "tools/list"))).status, 200)
    })
  )

  // B10
  it.scopedLive("28 MB of images are taken, and other requests are answered meanwhile", () =>
    Effect.gen(function* () {
      const home = makeHome("http://127.0.0.1:1")
      const { url } = yield* startServe(home.config)
      const image = { mime_type: "image/png", data_base64: makePng(64, 64, { bytes: 10 * 2 ** 20 }).toString("base64") }
      const big = yield* Effect.fork(
        post(url, home, withTasks(1, "tools/call", call("agent_run", { request: "hi", images: [image, image] })))
      )
      assert.strictEqual((yield* post(url, home, modern(2, "tools/list"))).status, 200)
      const answer = yield* Fiber.join(big)
      assert.deepInclude(answer.result, { resultType: "task" })
    })
  )

  it.scopedLive("cancel closes the model's connection", () =>
    Effect.gen(function* () {
      const ollama = yield* scriptedOllama([[hang]])
      const home = makeHome(ollama.url)
      const { url } = yield* startServe(home.config)
      const created = yield* post(url, home, withTasks(1, "tools/call", call("agent_run", { request: "hi" })))
      const taskId = String(created.result.taskId)
      yield* Effect.promise(() => ollama.waiting(0))
      assert.deepInclude((yield* post(url, home, withTasks(2, "tasks/cancel", { taskId }))).result, {
        resultType: "complete"
      })
      assert.isFalse(yield* Effect.promise(() => ollama.closed(0)))
      assert.match(yield* over(url, home, taskId), /"status":"cancelled"/)
      assert.deepInclude((yield* post(url, home, withTasks(3, "tasks/cancel", { taskId }))).result, {
        resultType: "complete"
      })
    })
  )

  it.scopedLive.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s ends it with 0, subscriptions with their result, and frees the port",
    (signal) =>
      Effect.gen(function* () {
        const ollama = yield* scriptedOllama([[hang]])
        const home = makeHome(ollama.url)
        const server = yield* startServe(home.config)
        const created = yield* post(server.url, home, withTasks(1, "tools/call", call("agent_run", { request: "hi" })))
        const listening = yield* listen(server.url, home, String(created.result.taskId))
        yield* Effect.promise(() => ollama.waiting(0))
        server.process.kill(signal)
        assert.match(yield* Effect.promise(() => listening.text()), /"id":"over","result"/)
        assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
        const port = Number(new URL(server.url).port)
        yield* Effect.async<void>((resume) => {
          const again = createServer().listen(port, "127.0.0.1", () => again.close(() => resume(Effect.void)))
        })
      })
  )

  it.scopedLive("an open address and a port in use end it with 2 and the way out", () =>
    Effect.gen(function* () {
      const home = makeHome("http://127.0.0.1:1")
      const open = yield* start(["serve", "--host", "0.0.0.0", "--config", home.config])
      assert.strictEqual(yield* Effect.promise(() => open.exit), 2)
      assert.include(open.stderr(), "allow_remote")
      const { url } = yield* startServe(home.config)
      const second = yield* start(["serve", "--port", new URL(url).port, "--config", home.config])
      assert.strictEqual(yield* Effect.promise(() => second.exit), 2)
      assert.include(second.stderr(), "--port")
    })
  )
})
