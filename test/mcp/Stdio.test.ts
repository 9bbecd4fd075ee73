import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger } from "effect"
import { TasksFake } from "../support/TasksFake.ts"
import { call, initialize, legacy, modern, withTasks } from "./Messages.ts"
import { openPipe } from "./Pipe.ts"
import { type SettingsChange, settingsLayer } from "./TestSettings.ts"

const layer = (change: SettingsChange = {}) => Layer.merge(TasksFake.layer, settingsLayer(change))

const run = (request = "hi") => call("agent_run", { request })

describe("Stdio", () => {
  it.scopedLive("both eras list the same two tools, and nothing else is in them", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const old = yield* pipe.ask(legacy(1, "tools/list"))
      const now = yield* pipe.ask(modern(2, "tools/list"))
      assert.deepStrictEqual(Object.keys(old.result), ["tools"])
      assert.strictEqual(JSON.stringify(now.result.tools), JSON.stringify(old.result.tools))
      assert.deepInclude(now.result, { resultType: "complete", cacheScope: "public" })
    }).pipe(Effect.provide(layer()))
  )

  // B25
  it.scopedLive("discover, then initialize, then both eras on one pipe", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const discovered = yield* pipe.ask(modern(0, "server/discover"))
      assert.deepInclude(discovered.result, {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
      })
      const initialized = yield* pipe.ask(initialize(1, "2025-11-25"))
      assert.deepInclude(initialized.result, { protocolVersion: "2025-11-25", capabilities: { tools: {} } })
      yield* pipe.send({ jsonrpc: "2.0", method: "notifications/initialized" })
      const listed = yield* pipe.ask(legacy(2, "tools/list"))
      assert.deepStrictEqual(Object.keys(listed.result), ["tools"])
      const again = yield* pipe.ask(modern(3, "tools/list"))
      assert.strictEqual(again.result.resultType, "complete")
      assert.match(String(initialized.result.instructions), /agent_run.*agent_status/)
    }).pipe(Effect.provide(layer()))
  )

  // B26
  it.scopedLive("initialize with any version gets a supported one", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const answers = [
        ["2025-11-25", "2025-11-25"],
        ["2025-06-18", "2025-06-18"],
        ["2025-03-26", "2025-03-26"],
        ["2024-11-05", "2024-11-05"],
        ["2099-01-01", "2025-11-25"],
        [null, "2025-11-25"]
      ] as const
      for (const [index, [asked, given]] of answers.entries()) {
        const reply = yield* pipe.ask(initialize(index, asked))
        assert.strictEqual(reply.result.protocolVersion, given)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("an initialize without what it needs is -32602", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      assert.strictEqual((yield* pipe.ask(legacy(1, "initialize", {}))).error.code, -32602)
      assert.isDefined((yield* pipe.ask(initialize(2, "2025-11-25"))).result)
    }).pipe(Effect.provide(layer()))
  )

  // B05
  it.scopedLive("an id comes back as it was sent", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      for (const id of [0, "req-abc", "", -1, 9007199254740991, "0", "\u0000"]) {
        for (const era of [legacy, modern]) assert.strictEqual((yield* pipe.ask(era(id, "tools/list"))).id, id)
      }
    }).pipe(Effect.provide(layer()))
  )

  // B08
  it.scopedLive("bad lines are answered without an id, and the next good one is served", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const bad = [
        ["{", -32700],
        ["not json", -32700],
        ["42", -32600],
        ["null", -32600],
        ["[]", -32600],
        [JSON.stringify([legacy(1, "ping")]), -32600],
        ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
        ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
        ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32600],
        ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600]
      ] as const
      for (const [line, code] of bad) {
        yield* pipe.send(line)
        const reply = yield* pipe.next
        assert.strictEqual(reply.error.code, code, line)
        assert.notProperty(reply, "id", line)
      }
      const last = yield* pipe.ask(legacy(5, "tools/list", { _meta: {} }))
      assert.lengthOf(last.result.tools as ReadonlyArray<unknown>, 2)
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("a bad message whose id can be read is answered with it", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const bad = [
        [{ id: 1, method: "ping" }, -32600],
        [{ jsonrpc: "1.0", id: 1, method: "ping" }, -32600],
        [{ jsonrpc: "2.0", id: 1 }, -32600],
        [{ jsonrpc: "2.0", id: 1, method: 5 }, -32600],
        [{ jsonrpc: "2.0", id: 1, method: "ping", params: [] }, -32600],
        [{ jsonrpc: "2.0", id: 1, method: "ping", params: null }, -32600],
        [legacy(1, "ping", { _meta: 5 }), -32602],
        [legacy(1, "ping", { _meta: { progressToken: {} } }), -32602],
        [legacy(1, "tools/list", { cursor: 5 }), -32602],
        [legacy(1, "tools/call", {}), -32602],
        [legacy(1, "tools/call", call("nope")), -32602]
      ] as const
      for (const [message, code] of bad) {
        const reply = yield* pipe.ask(message as { readonly id: number })
        assert.strictEqual(reply.error.code, code, JSON.stringify(message))
      }
      const extra = yield* pipe.ask({ ...legacy(2, "ping"), extra: 1 } as { readonly id: number })
      assert.deepStrictEqual(extra.result as object, {})
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("responses and bad notifications get no answer", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      yield* pipe.send(
        { jsonrpc: "2.0", id: 1, result: {} },
        { jsonrpc: "2.0", id: 1, error: { code: 1, message: "x" } },
        { jsonrpc: "2.0", method: "no/such" },
        { jsonrpc: "2.0", method: "notifications/initialized", params: [] },
        { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: {} } },
        { jsonrpc: "2.0", method: "notifications/cancelled" }
      )
      yield* pipe.send(modern(1, "tools/list"))
      assert.strictEqual((yield* pipe.next).id, 1)
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("CRLF, a BOM, blank lines, split and joined chunks are all read", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const line = (id: number) => JSON.stringify(legacy(id, "ping"))
      const bytes = Buffer.from(`\r\n \t\n${line(1)}\r\n\uFEFF${line(2)}\n\n${line(3)}\n${line(4)}`)
      for (const byte of bytes) yield* pipe.send(Buffer.from([byte]))
      pipe.input.end()
      const ids = [yield* pipe.next, yield* pipe.next, yield* pipe.next, yield* pipe.next].map((reply) => reply.id)
      assert.deepStrictEqual(ids, [1, 2, 3, 4])
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("invalid UTF-8 is -32700, and a lone surrogate becomes U+FFFD", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      yield* pipe.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}\n', "latin1"))
      assert.strictEqual((yield* pipe.next).error.code, -32700)
      const sent = JSON.stringify(legacy(2, "tools/call", run("a@b"))).replace("@", "\\ud800")
      yield* pipe.send(sent)
      yield* pipe.next
      assert.deepStrictEqual(
        (yield* (yield* TasksFake).submitted).map((request) => request.request),
        ["a\uFFFDb"]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("deep nesting is answered", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
      yield* pipe.send(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent_run","arguments":{"request":"\\ud800","x":${deep}}}}`
      )
      const reply = yield* pipe.next
      assert.isTrue(reply.result.isError)
      assert.match(reply.result.content[0]?.text ?? "", /^x: /)
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("a line beyond the limit is -32600 without an id, once, and the next is served", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const limit = Math.ceil((3 * 2 ** 20 * 4) / 3) + 2 * 2 ** 20
      const padded = (id: number, bytes: number) => {
        const empty = JSON.stringify(legacy(id, "ping", { x: "" }))
        return empty.replace('""', `"${"x".repeat(bytes - empty.length)}"`)
      }
      yield* pipe.send(padded(1, limit + 1))
      const refused = yield* pipe.next
      assert.strictEqual(refused.error.code, -32600)
      assert.notProperty(refused, "id")
      yield* pipe.send(padded(2, limit))
      assert.strictEqual((yield* pipe.next).id, 2)
    }).pipe(Effect.provide(layer({ maxTotalBytes: 3 * 2 ** 20 })))
  )

  // B45
  it.scopedLive("an unknown method is -32601, and ping belongs to the initialize era", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      assert.strictEqual((yield* pipe.ask(modern(1, "no/such"))).error.code, -32601)
      assert.isDefined((yield* pipe.ask(modern(2, "tools/list"))).result)
      assert.deepStrictEqual((yield* pipe.ask(legacy(3, "ping"))).result as object, {})
      assert.strictEqual((yield* pipe.ask(modern(4, "ping"))).error.code, -32601)
    }).pipe(Effect.provide(layer()))
  )

  // B27, B29
  it.scopedLive("a modern envelope is checked on every message", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const key = (name: string) => `io.modelcontextprotocol/${name}`
      const asked = (id: number, meta: object) => pipe.ask(legacy(id, "tools/call", { ...run(), _meta: meta }))
      yield* pipe.ask(modern(0, "tools/list"))
      const old = yield* asked(1, { [key("protocolVersion")]: "1900-01-01", [key("clientCapabilities")]: {} })
      assert.deepInclude(old.error, { code: -32022, data: { supported: ["2026-07-28"], requested: "1900-01-01" } })
      const bare = yield* asked(2, { [key("protocolVersion")]: "2026-07-28" })
      assert.strictEqual(bare.error.code, -32602)
      const odd = yield* asked(3, { [key("protocolVersion")]: 5, [key("clientCapabilities")]: {} })
      assert.strictEqual(odd.error.code, -32602)
      assert.deepStrictEqual(yield* (yield* TasksFake).submitted, [])
      const anonymous = yield* asked(4, { [key("protocolVersion")]: "2026-07-28", [key("clientCapabilities")]: {} })
      assert.strictEqual(anonymous.result.resultType, "complete")
    }).pipe(Effect.provide(layer()))
  )

  // B19
  it.scopedLive("the task member of 2025-11-25 is tolerated, its methods do not exist", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const reply = yield* pipe.ask(legacy(1, "tools/call", { ...run(), task: { ttl: 60_000 } }))
      assert.match(reply.result.content[0]?.text ?? "", /^task_id: /)
      for (const method of ["tasks/list", "tasks/result", "tasks/get", "tasks/cancel", "server/discover"]) {
        assert.strictEqual((yield* pipe.ask(legacy(method, method, { taskId: "x" }))).error.code, -32601, method)
      }
      for (const method of ["tasks/list", "tasks/result"]) {
        assert.strictEqual((yield* pipe.ask(withTasks(method, method, { taskId: "x" }))).error.code, -32601, method)
      }
    }).pipe(Effect.provide(layer()))
  )

  // B20
  it.scopedLive("only the request that declares the extension gets a task", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const task = yield* pipe.ask(withTasks(1, "tools/call", run()))
      assert.deepInclude(task.result, {
        resultType: "task",
        status: "working",
        statusMessage: "タスクは実行待ちです。",
        ttlMs: null,
        pollIntervalMs: 1000
      })
      assert.notProperty(task.result, "content")
      const plain = yield* pipe.ask(modern(2, "tools/call", run()))
      assert.strictEqual(plain.result.resultType, "complete")
      assert.lengthOf(plain.result.content, 1)
      assert.deepStrictEqual(Object.keys(plain.result).sort(), ["_meta", "content", "resultType"])
      const old = yield* pipe.ask(legacy(3, "tools/call", run()))
      assert.deepStrictEqual(Object.keys(old.result), ["content"])
    }).pipe(Effect.provide(layer()))
  )

  // B12
  it.scopedLive("wrong arguments are a tool error also for a client with the extension", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      for (const args of [{ request: "hi", images: ["null"] }, { request: "" }, [], null, "x"]) {
        const reply = yield* pipe.ask(withTasks(1, "tools/call", call("agent_run", args)))
        assert.isTrue(reply.result.isError, JSON.stringify(args))
        assert.strictEqual(reply.result.resultType, "complete")
      }
      assert.deepStrictEqual(yield* (yield* TasksFake).submitted, [])
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("a defect is -32603 without a word of what it was, and the server goes on", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      yield* (yield* TasksFake).beforeSubmit(Effect.dieMessage("secret"))
      const reply = yield* pipe.ask(modern(1, "tools/call", run()))
      assert.deepStrictEqual(reply.error, { code: -32603, message: "Internal error" })
      assert.isDefined((yield* pipe.ask(modern(2, "tools/list"))).result)
    }).pipe(Effect.provide(Layer.merge(layer(), Logger.remove(Logger.defaultLogger))))
  )

  it.scopedLive("nothing but a tool call or a task method touches the work", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      yield* pipe.ask(modern(1, "server/discover"))
      yield* pipe.ask(initialize(2, "2025-11-25"))
      yield* pipe.ask(legacy(3, "tools/list"))
      yield* pipe.ask(modern(4, "tools/list"))
      yield* pipe.ask(legacy(5, "ping"))
      assert.strictEqual(yield* (yield* TasksFake).calls, 0)
    }).pipe(Effect.provide(layer()))
  )

  // B36
  it.scopedLive("notifications/cancelled stops the answer, never the task", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const fake = yield* TasksFake
      const [entered, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* fake.beforeSubmit(Deferred.succeed(entered, undefined).pipe(Effect.zipRight(Deferred.await(gate))))
      yield* pipe.send(modern(1, "tools/call", run()))
      yield* Deferred.await(entered)
      yield* pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
      yield* pipe.ask(modern(2, "tools/list"))
      yield* Deferred.succeed(gate, undefined)
      pipe.input.end()
      yield* Fiber.join(pipe.server)
      assert.lengthOf(yield* fake.submitted, 1)
      assert.deepStrictEqual(yield* pipe.rest, [])
    }).pipe(Effect.provide(layer()))
  )

  // B02
  it.scopedLive("the end of the input ends the server once every request has its answer", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const fake = yield* TasksFake
      const [entered, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* fake.beforeSubmit(Deferred.succeed(entered, undefined).pipe(Effect.zipRight(Deferred.await(gate))))
      yield* pipe.send(modern(1, "tools/call", run()), legacy(2, "tools/call", run()))
      pipe.input.end()
      yield* Deferred.await(entered)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(pipe.server)
      assert.deepStrictEqual((yield* pipe.rest).map((reply) => reply.id).sort(), [1, 2])
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("an interruption answers what is in flight, too", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      const fake = yield* TasksFake
      const [entered, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* fake.beforeSubmit(Deferred.succeed(entered, undefined).pipe(Effect.zipRight(Deferred.await(gate))))
      yield* pipe.send(modern(1, "tools/call", run()))
      yield* Deferred.await(entered)
      const interrupting = yield* Effect.fork(Fiber.interrupt(pipe.server))
      // by then a server that does not wait for the answer has ended
      for (let turn = 0; turn < 5; turn++) yield* Effect.promise(() => new Promise(setImmediate))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(
        (yield* pipe.rest).map((reply) => reply.id),
        [1]
      )
    }).pipe(Effect.provide(layer()))
  )

  // B03
  it.scopedLive("a broken output ends the server", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      yield* pipe.ask(modern(1, "tools/list"))
      pipe.output.destroy(new Error("EPIPE"))
      yield* Fiber.join(pipe.server)
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("an input that has ended already ends the server at once", () =>
    Effect.gen(function* () {
      const pipe = yield* openPipe
      pipe.input.destroy()
      yield* Fiber.join(pipe.server)
    }).pipe(Effect.provide(layer()))
  )
})
