import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { serve } from "../../src/mcp/Http.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { type HttpReply, openServer } from "./HttpPeer.ts"
import { call, initialize, legacy, modern, withTasks } from "./Messages.ts"
import { type SettingsChange, settingsLayer } from "./TestSettings.ts"

const layer = (change: SettingsChange = {}) => Layer.merge(TasksFake.layer, settingsLayer(change))

const run = (request = "hi") => call("agent_run", { request })

/** Every refusal's body is a JSON-RPC error without an id. */
const assertRefused = (reply: HttpReply, status: number, code = -32000) => {
  assert.strictEqual(reply.status, status, reply.text)
  assert.strictEqual(reply.headers["content-type"], "application/json")
  assert.strictEqual(reply.json.error.code, code)
  assert.notProperty(reply.json, "id")
  assert.notProperty(reply.headers, "access-control-allow-origin")
}

describe("Http", () => {
  it.scopedLive("both eras are served as JSON", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const now = yield* http.post(modern(1, "tools/list"))
      const old = yield* http.post(legacy("x", "tools/list"))
      assert.deepStrictEqual([now.status, old.status], [200, 200])
      assert.strictEqual(JSON.stringify(now.json.result.tools), JSON.stringify(old.json.result.tools))
      assert.strictEqual(old.json.id, "x")
      const initialized = yield* http.post(initialize(0, "2025-06-18"))
      assert.strictEqual(initialized.json.result.protocolVersion, "2025-06-18")
      assert.notProperty(initialized.headers, "mcp-session-id")
      const noted = yield* http.post({ jsonrpc: "2.0", method: "notifications/initialized" })
      assert.deepStrictEqual([noted.status, noted.text], [202, ""])
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("agent_run is a task for the extension and text for others", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const task = yield* http.post(withTasks(1, "tools/call", run()))
      assert.deepInclude(task.json.result, { resultType: "task", status: "working" })
      const got = yield* http.post(withTasks(2, "tasks/get", { taskId: task.json.result.taskId }))
      assert.deepInclude(got.json.result, { resultType: "complete", status: "working" })
      const plain = yield* http.post(legacy(3, "tools/call", run()))
      assert.match(plain.json.result.content[0]?.text ?? "", /^task_id: /)
      const [first] = yield* (yield* TasksFake).submitted
      assert.deepStrictEqual(first?.caller, { token: null, via: "http" })
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("without the token nothing is told", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const body = JSON.stringify(legacy(1, "tools/list"))
      const wrong = ["Bearer", "Bearer ", "Bearer x", `Basic ${http.token}`, http.token, `Bearer ${http.token}x`]
      for (const authorization of [undefined, ...wrong]) {
        for (const path of ["/mcp", "/nothing", "/"]) {
          const reply = yield* http.send({ path, headers: { authorization, "content-type": "application/json" }, body })
          assertRefused(reply, 401)
          assert.match(reply.headers["www-authenticate"] ?? "", /^Bearer/)
        }
      }
      const right = yield* http.send({
        headers: { authorization: `bearer ${http.token}`, "content-type": "application/json" },
        body
      })
      assert.strictEqual(right.status, 200)
    }).pipe(Effect.provide(layer()))
  )

  // B32
  it.scopedLive("a foreign Host or Origin gets 403 before anything else, whatever the method", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const foreign = [
        { origin: "https://evil.example" },
        { origin: "null" },
        { host: `evil.example:${http.port}` },
        { host: `localhost.evil.example:${http.port}` },
        { origin: `https://127.0.0.1:${http.port}` },
        { origin: "http://localhost:1" },
        { origin: `http://localhost:${http.port}.evil.example` }
      ]
      for (const headers of foreign) {
        for (const method of ["POST", "GET", "OPTIONS", "DELETE"]) {
          assertRefused(yield* http.send({ method, headers, body: method === "POST" ? "{" : "" }), 403)
        }
      }
      const own = [
        { host: `127.0.0.1:${http.port}` },
        { host: "localhost" },
        { host: `[::1]:${http.port}` },
        { host: `LOCALHOST:${http.port}` },
        { origin: `http://localhost:${http.port}` }
      ]
      for (const headers of own) assert.strictEqual((yield* http.post(legacy(1, "ping"), headers)).status, 200)
      for (const host of ["a b", "127.0.0.1:99999999", "[::1"]) {
        assertRefused(yield* http.post(legacy(1, "ping"), { host }), 400)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("further hosts and origins are allowed by the settings, origins with scheme and port", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const asked = (headers: Record<string, string>) =>
        Effect.map(http.post(legacy(1, "ping"), headers), (reply) => reply.status)
      assert.strictEqual(yield* asked({ host: "agent.example" }), 200)
      assert.strictEqual(yield* asked({ host: "agent.example:8443" }), 200)
      assert.strictEqual(yield* asked({ host: "other.example:8443" }), 200)
      assert.strictEqual(yield* asked({ host: "other.example" }), 403)
      assert.strictEqual(yield* asked({ origin: "https://app.example" }), 200)
      assert.strictEqual(yield* asked({ origin: "http://app.example" }), 403)
      assert.strictEqual(yield* asked({ origin: "https://app.example:8443" }), 403)
    }).pipe(
      Effect.provide(
        layer({
          http: { allowedHosts: ["agent.example", "other.example:8443"], allowedOrigins: ["https://app.example"] }
        })
      )
    )
  )

  // B33
  it.scopedLive("other methods and paths are 405 with Allow, and 404", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      for (const method of ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"]) {
        const reply = yield* http.send({ method, headers: { accept: "text/event-stream" } })
        assertRefused(reply, 405)
        assert.strictEqual(reply.headers.allow, "POST")
      }
      for (const path of ["/", "/mcp/", "/mcp2", "/MCP", "//mcp", "/a/mcp"]) {
        assertRefused(yield* http.send({ method: "GET", path }), 404)
      }
      const body = JSON.stringify(legacy(1, "ping"))
      assert.strictEqual(
        (yield* http.send({ path: "/mcp?x=1", headers: { "content-type": "application/json" }, body })).status,
        200
      )
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("a base path stands before everything but health", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      assert.strictEqual(http.url, `http://127.0.0.1:${http.port}/team/sagyo/mcp`)
      assert.strictEqual((yield* http.post(legacy(1, "ping"))).status, 200)
      assertRefused(yield* http.send({ path: "/mcp" }), 404)
      for (const path of ["/healthz", "/team/sagyo/healthz", "/readyz", "/team/sagyo/readyz"]) {
        assert.strictEqual(
          (yield* http.send({ method: "GET", path, headers: { authorization: undefined } })).status,
          200
        )
      }
      assertRefused(yield* http.send({ method: "POST", path: "/healthz" }), 405)
    }).pipe(Effect.provide(layer({ http: { basePath: "/team/sagyo" } })))
  )

  // B35
  it.scopedLive("any Accept is served, as a stream only where nothing else is taken", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      for (const message of [modern(1, "tools/list"), legacy(1, "tools/list")]) {
        for (const accept of [
          undefined,
          "*/*",
          "application/json",
          "application/json;q=0.9, text/event-stream",
          "text/html"
        ]) {
          const reply = yield* http.post(message, { accept })
          assert.deepStrictEqual([reply.status, reply.headers["content-type"]], [200, "application/json"], accept)
        }
        const streamed = yield* http.post(message, { accept: "text/event-stream" })
        assert.strictEqual(streamed.headers["content-type"], "text/event-stream")
        assert.match(streamed.headers["cache-control"] ?? "", /no-cache/)
        assert.strictEqual(streamed.headers["x-accel-buffering"], "no")
        assert.match(streamed.text, /^event: message\ndata: \{.*"id":1.*\}\n\n$/)
      }
      for (const type of ["text/plain", "", "application/jsonx", "application/x-www-form-urlencoded", undefined]) {
        assertRefused(yield* http.post(legacy(1, "tools/call", run()), { "content-type": type }), 415)
      }
      const charset = { "content-type": "application/json; charset=utf-8" }
      assert.strictEqual((yield* http.post(legacy(1, "ping"), charset)).status, 200)
      assertRefused(yield* http.post(legacy(1, "ping"), { "content-encoding": "gzip" }), 415)
      assert.deepStrictEqual(yield* (yield* TasksFake).submitted, [])
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("bad JSON, batches and bad shapes are 400 with the codes of JSON-RPC", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const bad = [
        ["", -32700],
        ["{", -32700],
        ["42", -32600],
        ["[]", -32600],
        [JSON.stringify([legacy(1, "ping")]), -32600],
        ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
        ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
        ['{"jsonrpc":"2.0","id":1,"result":{}}', -32600]
      ] as const
      for (const [body, code] of bad) {
        assertRefused(yield* http.send({ headers: { "content-type": "application/json" }, body }), 400, code)
      }
      const headers = { "content-type": "application/json" }
      const named = yield* http.send({ headers, body: '{"jsonrpc":"2.0","id":7,"method":5}' })
      assert.deepStrictEqual([named.status, named.json.id, named.json.error.code], [400, 7, -32600])
      const utf8 = yield* http.send({
        headers,
        body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', "latin1")
      })
      assertRefused(utf8, 400, -32700)
      const bom = yield* http.send({ headers, body: `\uFEFF${JSON.stringify(legacy(1, "ping"))}` })
      assert.strictEqual(bom.status, 200)
    }).pipe(Effect.provide(layer()))
  )

  // B27, B29, B31, B45
  it.scopedLive("the standard headers must be there and must say what the body says", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const codes = (message: object, headers: Record<string, string | undefined> = {}) =>
        Effect.map(http.post(message, headers), (reply) => [reply.status, reply.json.error?.code])
      const called = modern(1, "tools/call", run())
      const old = legacy(1, "tools/call", {
        ...run(),
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "1900-01-01",
          "io.modelcontextprotocol/clientCapabilities": {}
        }
      })
      const unsupported = yield* http.post(old)
      assert.strictEqual(unsupported.status, 400)
      assert.deepInclude(unsupported.json.error, {
        code: -32022,
        data: { supported: ["2026-07-28"], requested: "1900-01-01" }
      })
      const bare = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "agent_run" }
      assert.deepStrictEqual(yield* codes(legacy(1, "tools/call", run()), bare), [400, -32602])
      for (const key of ["protocolVersion", "clientCapabilities"]) {
        const value = key === "protocolVersion" ? "2026-07-28" : {}
        const partial = legacy(1, "tools/call", { ...run(), _meta: { [`io.modelcontextprotocol/${key}`]: value } })
        assert.deepStrictEqual(yield* codes(partial, bare), [400, -32602])
      }
      assert.deepStrictEqual(yield* codes(called, { "mcp-method": undefined }), [400, -32020])
      assert.deepStrictEqual(yield* codes(called, { "mcp-method": "tools/list" }), [400, -32020])
      assert.deepStrictEqual(yield* codes(called, { "mcp-name": undefined }), [400, -32020])
      assert.deepStrictEqual(yield* codes(called, { "mcp-name": "agent_status" }), [400, -32020])
      const got = withTasks(1, "tasks/get", { taskId: "a" })
      assert.deepStrictEqual(yield* codes(got, { "mcp-name": "b" }), [400, -32020])
      assert.deepStrictEqual(yield* codes(got, { "mcp-name": undefined }), [400, -32020])
      assert.deepStrictEqual(yield* codes(got), [200, -32602])
      assert.deepStrictEqual(yield* codes(modern(1, "tasks/get", { taskId: "a" })), [400, -32021])
      assert.deepStrictEqual(yield* codes(modern(1, "no/such")), [404, -32601])
      assert.deepStrictEqual(yield* codes(withTasks(1, "tasks/list")), [404, -32601])
      assert.deepStrictEqual(yield* (yield* TasksFake).submitted, [])
    }).pipe(Effect.provide(layer()))
  )

  // B34
  it.scopedLive("a stale session id is neither read nor given back", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      for (const message of [withTasks(1, "tools/call", run()), legacy(1, "tools/call", run())]) {
        const reply = yield* http.post(message, { "mcp-session-id": "dead-beef", "last-event-id": "42" })
        assert.strictEqual(reply.status, 200)
        assert.isDefined(reply.json.result)
        assert.notProperty(reply.headers, "mcp-session-id")
      }
    }).pipe(Effect.provide(layer()))
  )

  // B36
  it.scopedLive("notifications/cancelled of one client does not touch another's request", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const [entered, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* (yield* TasksFake).beforeSubmit(
        Deferred.succeed(entered, undefined).pipe(Effect.zipRight(Deferred.await(gate)))
      )
      const called = yield* Effect.fork(http.post(modern(1, "tools/call", run())))
      yield* Deferred.await(entered)
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }
      const noted = yield* http.post(cancelled, {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "notifications/cancelled"
      })
      assert.include([202, 400], noted.status)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(called)).status, 200)
    }).pipe(Effect.provide(layer()))
  )

  // B37
  it.scopedLive("a client that goes away right after its request leaves a whole task", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const fake = yield* TasksFake
      const [entered, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* fake.beforeSubmit(Deferred.succeed(entered, undefined).pipe(Effect.zipRight(Deferred.await(gate))))
      const called = yield* Effect.fork(http.post(withTasks(1, "tools/call", run())))
      yield* Deferred.await(entered)
      yield* Fiber.interrupt(called)
      assert.strictEqual((yield* http.post(legacy(1, "ping"))).status, 200)
      yield* Deferred.succeed(gate, undefined)
      yield* fake.beforeSubmit(Effect.void)
      assert.strictEqual((yield* http.post(legacy(1, "ping"))).status, 200)
      assert.lengthOf(yield* fake.all, 1)
    }).pipe(Effect.provide(layer()))
  )

  // B11
  it.scopedLive("a body beyond the limit is 413 at once, also when it never comes or never ends", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const head = (more: string) =>
        `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${http.token}\r\ncontent-type: application/json\r\n${more}\r\n\r\n`
      const declared = yield* http.raw(head("content-length: 200000000"))
      const chunk = Buffer.alloc(1024 * 1024, 0x20)
      const chunked = Buffer.concat([Buffer.from("100000\r\n"), chunk, Buffer.from("\r\n")])
      const endless = yield* http.raw(head("transfer-encoding: chunked"), ...Array.from({ length: 8 }, () => chunked))
      for (const answer of [declared, endless]) {
        assert.match(answer, /^HTTP\/1\.1 413 /)
        assert.match(answer, /connection: close/i)
        assert.deepInclude(JSON.parse(answer.split("\r\n\r\n")[1] ?? "").error, { code: -32000 })
      }
    }).pipe(Effect.provide(layer({ maxTotalBytes: 3 * 2 ** 20 })))
  )

  it.scopedLive("a body that was refused unread is not waited for, and the connection is closed", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const head = (path: string, token: string) =>
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`
      for (const [bytes, status] of [
        [head("/mcp", "wrong"), 401],
        [head("/nothing", http.token), 404]
      ] as const) {
        const answer = yield* http.raw(bytes)
        assert.isTrue(answer.startsWith(`HTTP/1.1 ${status} `), answer)
        assert.match(answer, /connection: close/i)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("beyond max_connections a connection is dropped, and one that is idle makes room", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const idle = yield* Effect.async<Socket>((resume) => {
        const socket = connect(http.port, "127.0.0.1")
        socket.once("data", () => resume(Effect.succeed(socket)))
        socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
      })
      const closed = once(idle, "close")
      assert.strictEqual(yield* http.raw("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"), "")
      yield* Effect.promise(() => closed)
      const answer = yield* http.raw("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
      assert.match(answer, /^HTTP\/1\.1 200 /)
    }).pipe(Effect.provide(layer({ http: { maxConnections: 1 } })))
  )

  it.scopedLive("Expect: 100-continue is answered after the guards, and only then", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const body = JSON.stringify(legacy(1, "ping"))
      const head = (token: string) =>
        `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`
      assert.match(yield* http.raw(head(http.token), body), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
      assert.match(yield* http.raw(head("wrong"), body), /^HTTP\/1\.1 401 /)
      const odd = head(http.token).replace("100-continue", "something")
      assert.match(yield* http.raw(odd, body), /^HTTP\/1\.1 417 /)
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("what is no HTTP gets a JSON refusal and a closed connection", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${http.token}\r\ncontent-type: application/json\r\n`
      const broken = [
        ["nonsense\r\n\r\n", 400],
        ["GET /mcp HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n", 400],
        ["GET /mcp HTTP/1.1\r\n\r\n", 400],
        [`GET /mcp HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(20_000)}\r\n\r\n`, 431],
        [`${head}transfer-encoding: chunked\r\n\r\nzz\r\n`, 400],
        [`${head}content-length: 5\r\ncontent-length: 6\r\n\r\n`, 400]
      ] as const
      for (const [bytes, status] of broken) {
        const answer = yield* http.raw(bytes)
        assert.isTrue(answer.startsWith(`HTTP/1.1 ${status} `), `${bytes.slice(0, 60)} -> ${answer}`)
        assert.property(JSON.parse(answer.split("\r\n\r\n")[1] ?? ""), "error")
      }
      assert.strictEqual((yield* http.post(legacy(1, "ping"))).status, 200)
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("subscriptions to tasks are event streams", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      const fake = yield* TasksFake
      const task = (yield* http.post(withTasks(1, "tools/call", run()))).json.result
      yield* fake.finish(String(task.taskId), "completed", "done")
      const listen = withTasks("sub", "subscriptions/listen", { notifications: { taskIds: [task.taskId] } })
      const streamed = yield* http.post(listen)
      assert.strictEqual(streamed.headers["content-type"], "text/event-stream")
      assert.match(streamed.headers["cache-control"] ?? "", /no-cache/)
      assert.strictEqual(streamed.headers["x-accel-buffering"], "no")
      const events = streamed.text
        .trim()
        .split("\n\n")
        .map((event) => JSON.parse(event.replace(/^event: message\ndata: /, "")))
      assert.deepStrictEqual(
        events.map((event) => event.method ?? event.id),
        ["notifications/subscriptions/acknowledged", "notifications/tasks", "sub"]
      )
      const collapsed = yield* http.post(listen, { accept: "application/json" })
      assert.deepStrictEqual([collapsed.status, collapsed.json.id], [200, "sub"])

      const codes = (message: object, headers: Record<string, string | undefined> = {}) =>
        Effect.map(http.post(message, headers), (reply) => [reply.status, reply.json.error?.code])
      const bad = withTasks(1, "subscriptions/listen", { notifications: { taskIds: "x" } })
      assert.deepStrictEqual(yield* codes(bad), [200, -32602])
      const undeclared = modern(1, "subscriptions/listen", { notifications: { taskIds: [] } })
      assert.deepStrictEqual(yield* codes(undeclared), [400, -32021])
      assert.deepStrictEqual(yield* codes(listen, { "mcp-method": "tools/list" }), [400, -32020])
      assert.deepStrictEqual(yield* codes(listen, { "mcp-protocol-version": undefined }), [400, -32020])
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("the end of the scope finishes answers and subscriptions, and frees the port", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const http = yield* Scope.extend(openServer, scope)
      const fake = yield* TasksFake
      const task = (yield* http.post(withTasks(1, "tools/call", run()))).json.result
      const acknowledged = yield* Deferred.make<void>()
      const [entered, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* fake.beforeSubmit(Deferred.succeed(entered, undefined).pipe(Effect.zipRight(Deferred.await(gate))))
      const listen = withTasks("sub", "subscriptions/listen", { notifications: { taskIds: [task.taskId] } })
      const listening = yield* Effect.fork(http.post(listen))
      const called = yield* Effect.fork(http.post(legacy(1, "tools/call", run())))
      yield* Deferred.await(entered)
      yield* Deferred.succeed(acknowledged, undefined)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      assert.match((yield* Fiber.join(listening)).text, /"id":"sub","result"/)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(called)).status, 200)
      yield* Fiber.join(closing)
      yield* Effect.async<void>((resume) => {
        const again = createServer().listen(http.port, "127.0.0.1", () => again.close(() => resume(Effect.void)))
      })
    }).pipe(Effect.provide(layer()))
  )

  it.scopedLive("a port in use, and an address that others reach, are refused in words", () =>
    Effect.gen(function* () {
      const taken = createServer()
      const port = yield* Effect.async<number>((resume) => {
        taken.listen(0, "127.0.0.1", () => resume(Effect.succeed((taken.address() as AddressInfo).port)))
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => taken.close()))
      const attempt = (http: SettingsChange["http"]) =>
        Effect.scoped(Effect.flip(serve)).pipe(Effect.provide(layer(http === undefined ? {} : { http })))
      const inUse = yield* attempt({ port })
      assert.strictEqual(inUse._tag, "HttpListenFailed")
      assert.include(inUse.reason.en, `Port ${port} is in use`)
      for (const http of [
        { host: "0.0.0.0" },
        { host: "192.0.2.1", allowRemote: false },
        { host: "0.0.0.0", allowRemote: true, auth: "none" as const }
      ]) {
        assert.strictEqual((yield* attempt(http))._tag, "HttpUnguarded")
      }
    })
  )

  it.scopedLive("without a token, loopback is open to this machine", () =>
    Effect.gen(function* () {
      const http = yield* openServer
      assert.strictEqual((yield* http.post(legacy(1, "ping"))).status, 200)
      assertRefused(yield* http.post(legacy(1, "ping"), { origin: "https://evil.example" }), 403)
    }).pipe(Effect.provide(layer({ http: { auth: "none" } })))
  )
})
