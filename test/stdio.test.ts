import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import type { ScriptEntry } from "../src/ollama/ScriptedOllama.ts"
import { type Home, makeHome, start } from "./mcp/BuiltProgram.ts"
import { call, initialize, legacy, modern, withTasks } from "./mcp/Messages.ts"
import { type Talk, talkOver } from "./mcp/Talk.ts"
import { makePng } from "./support/Png.ts"
import { hang, scriptedOllama, text, toolCall } from "./support/ScriptedOllama.ts"

const open = (home: Home, env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const child = yield* start(["stdio", "--config", home.config], env)
    const talk = yield* talkOver(child.process.stdin, child.process.stdout)
    return { ...child, ...talk }
  })

const homeWith = (script: ReadonlyArray<ScriptEntry>, more = "") =>
  Effect.map(scriptedOllama(script), (ollama) => ({ ollama, home: makeHome(ollama.url, more) }))

const runTask = (talk: Talk, request: string) =>
  Effect.map(talk.ask(withTasks("run", "tools/call", call("agent_run", { request }))), (reply) =>
    String(reply.result.taskId)
  )

/** Waits by a subscription until the task is over. */
const over = (talk: Talk, taskId: string) =>
  Effect.zipRight(
    talk.send(withTasks("over", "subscriptions/listen", { notifications: { taskIds: [taskId] } })),
    talk.until((reply) => reply.method === "notifications/tasks" && reply.params.status !== "working")
  )

const status = (talk: Talk, taskId: string) =>
  Effect.map(
    talk.ask(legacy("status", "tools/call", call("agent_status", { task_id: taskId }))),
    (reply) => reply.result.content[0]?.text ?? ""
  )

describe("sagyo stdio", () => {
  // B01
  it.scopedLive("nothing but MCP is on stdout, whatever is logged and whatever a command prints", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith(
        [toolCall("shell", { command: "echo out; echo err >&2" }), text("printed")],
        "log: { level: debug }\ntools: { shell: { sandbox: off } }"
      )
      const server = yield* open(home, { NODE_OPTIONS: "--trace-warnings --pending-deprecation", NODE_DEBUG: "http" })
      const taskId = yield* runTask(server, "print something")
      yield* over(server, taskId)
      assert.match(yield* status(server, taskId), /\nresult: printed$/)
      server.process.stdin.end()
      assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
      const rest = yield* server.rest
      assert.isTrue(rest.every((reply) => "result" in reply || "method" in reply))
      assert.isNotEmpty(server.stderr())
    })
  )

  it.scopedLive("a model that does not answer fails the task, and the server goes on", () =>
    Effect.gen(function* () {
      const server = yield* open(makeHome("http://127.0.0.1:1"))
      const taskId = yield* runTask(server, "hi")
      yield* over(server, taskId)
      const failed = yield* status(server, taskId)
      assert.match(failed, /\nstatus: failed\n/)
      assert.include(failed, "ollama serve")
      const got = yield* server.ask(withTasks(1, "tasks/get", { taskId }))
      assert.deepInclude(got.result, { status: "completed" })
      assert.isTrue((got.result.result as { readonly isError?: boolean }).isError)
    })
  )

  // B02
  it.scopedLive("ends with 0 at once when stdin is closed from the start", () =>
    Effect.gen(function* () {
      const server = yield* open(makeHome("http://127.0.0.1:1"))
      server.process.stdin.end()
      assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
      assert.deepStrictEqual(yield* server.rest, [])
    })
  )

  // B02, B45
  it.scopedLive("a start that only looks leaves nothing in the data folder", () =>
    Effect.gen(function* () {
      const home = makeHome("http://127.0.0.1:1")
      const servers = yield* Effect.all([open(home), open(home)])
      for (const server of servers) {
        yield* server.ask(modern(0, "server/discover"))
        yield* server.ask(initialize(1, "2025-11-25"))
        yield* server.ask(legacy(2, "tools/list"))
        server.process.stdin.end()
        assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
      }
      assert.isFalse(existsSync(join(home.dataDir, "sagyo.db")))
    })
  )

  // B02
  it.scopedLive(
    "closing stdin while a command runs ends it and every process, and the task waits for the next server",
    () =>
      Effect.gen(function* () {
        const { ollama, home } = yield* homeWith(
          [toolCall("shell", { command: "echo $$ > started; sleep 600" }), text("resumed")],
          "tools: { shell: { sandbox: off } }"
        )
        const first = yield* open(home)
        const taskId = yield* runTask(first, "sleep")
        const listening = withTasks("watch", "subscriptions/listen", { notifications: { taskIds: [taskId] } })
        yield* first.send(listening)
        yield* first.until((reply) => String(reply.params?.statusMessage).startsWith("shell "))
        const pidFile = join(home.workspace, "started")
        yield* Effect.repeat(Effect.sleep("5 millis"), {
          until: () => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== ""
        })
        first.process.stdin.end()
        assert.strictEqual(yield* Effect.promise(() => first.exit), 0)
        const pid = Number(readFileSync(pidFile, "utf8"))
        assert.throws(() => process.kill(pid, 0), /ESRCH/)

        const second = yield* open(home)
        yield* over(second, taskId)
        assert.match(yield* status(second, taskId), /\nresult: resumed$/)
        assert.lengthOf(ollama.requests, 2)
      })
  )

  // B03
  it.scopedLive("a client that dies with all its pipes ends the server", () =>
    Effect.gen(function* () {
      const { ollama, home } = yield* homeWith([[hang]])
      const server = yield* open(home)
      yield* runTask(server, "hang")
      yield* Effect.promise(() => ollama.waiting(0))
      server.process.stdout.destroy()
      server.process.stderr.destroy()
      server.process.stdin.destroy()
      assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
      assert.isFalse(yield* Effect.promise(() => ollama.closed(0)))
    })
  )

  it.scopedLive("a client that no longer reads ends the server at the next answer", () =>
    Effect.gen(function* () {
      const server = yield* open(makeHome("http://127.0.0.1:1"))
      yield* server.ask(modern(1, "tools/list"))
      server.process.stdout.destroy()
      yield* server.send(modern(2, "tools/list"))
      assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
    })
  )

  it.scopedLive.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s is a clean end", (signal) =>
    Effect.gen(function* () {
      const server = yield* open(makeHome("http://127.0.0.1:1"))
      yield* server.ask(modern(1, "tools/list"))
      server.process.kill(signal)
      assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
    })
  )

  // B10
  it.scopedLive("28 MB of images are taken, and other requests are answered meanwhile", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      const server = yield* open(home)
      const image = { mime_type: "image/png", data_base64: makePng(64, 64, { bytes: 10 * 2 ** 20 }).toString("base64") }
      yield* server.send(withTasks("big", "tools/call", call("agent_run", { request: "hi", images: [image, image] })))
      yield* server.send(modern("small", "tools/list"))
      const replies = [yield* server.next, yield* server.next]
      assert.deepStrictEqual(replies.map((reply) => reply.id).sort(), ["big", "small"])
      assert.isUndefined(replies.find((reply) => reply.id === "big")?.result.isError)
    })
  )

  // B41
  it.scopedLive("a result of 400,000 characters comes whole", () =>
    Effect.gen(function* () {
      const answer = "ab c\n".repeat(80_000).trim()
      const { home } = yield* homeWith([text(answer)])
      const server = yield* open(home)
      const taskId = yield* runTask(server, "write a lot")
      yield* over(server, taskId)
      assert.isTrue((yield* status(server, taskId)).endsWith(`\nresult: ${answer}`))
    })
  )

  it.scopedLive("two servers on one data folder know each other's tasks, and tell of their changes", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { home } = yield* homeWith([
        async () => {
          await Effect.runPromise(Deferred.await(gate))
          return text("done elsewhere")
        },
        text("later")
      ])
      const [first, second] = [yield* open(home), yield* open(home)]
      const taskId = yield* runTask(first, "work")
      yield* second.send(withTasks("watch", "subscriptions/listen", { notifications: { taskIds: [taskId] } }))
      yield* second.until((reply) => reply.method === "notifications/tasks")
      yield* Deferred.succeed(gate, undefined)
      const last = yield* second.until((reply) => reply.params?.status === "completed")
      assert.strictEqual(last.params.taskId, taskId)
      assert.match(yield* status(second, taskId), /\nresult: done elsewhere$/)
      const queued = yield* runTask(second, "later")
      assert.match(yield* status(first, queued), new RegExp(`^task_id: ${queued}\n`))
      yield* over(first, queued)
    })
  )

  it.scopedLive("English texts where the settings say so", () =>
    Effect.gen(function* () {
      const server = yield* open(makeHome("http://127.0.0.1:1", "locale: en"))
      const reply = yield* server.ask(legacy(1, "tools/call", call("agent_run", { request: "hi" })))
      assert.match(reply.result.content[0]?.text ?? "", /\nmessage: Task .* was registered in session .*\.$/)
      const refused = yield* server.ask(legacy(2, "tools/call", call("agent_run", {})))
      assert.match(refused.result.content[0]?.text ?? "", /^request: is required/)
    })
  )
})
