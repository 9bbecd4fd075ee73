import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import fc from "fast-check"
import { type HttpPeer, openServer } from "../mcp/HttpPeer.ts"
import { legacy, modern } from "../mcp/Messages.ts"
import { settingsLayer } from "../mcp/TestSettings.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { answersIn, exchangeBytes, type RawAnswer } from "./HttpWire.ts"
import { bytes, cuts, inPieces, message } from "./Inputs.ts"
import { forgetTasks, holds, propertyTimeout } from "./Runs.ts"
import { answerableId, faultOf } from "./WellFormed.ts"

const layer = Layer.merge(TasksFake.layer, settingsLayer())

const statuses = [200, 202, 400, 401, 403, 404, 405, 408, 413, 415, 417, 431]

/** What `/healthz` and `/readyz` say. */
const healthy = JSON.stringify({ ok: true })

/** Each answer is one of those that are written down, and what it holds is well-formed. */
const assertWellFormed = (answers: ReadonlyArray<RawAnswer>, input: string) => {
  for (const { status, headers, body } of answers) {
    const told = `${status} ${body} after ${input}`
    assert.include(statuses, status, told)
    if (status === 200 && body === healthy) continue
    if (status === 202) {
      assert.strictEqual(body, "", told)
      continue
    }
    const isStream = headers.get("content-type") === "text/event-stream"
    assert.isTrue(isStream || headers.get("content-type") === "application/json", told)
    const messages = isStream ? eventsOf(body) : [JSON.parse(body)]
    assert.isNotEmpty(messages, told)
    for (const said of messages) assert.isUndefined(faultOf(said), told)
    if (status !== 200) assert.property(messages[0], "error", told)
  }
}

const eventsOf = (body: string): ReadonlyArray<unknown> =>
  body
    .split("\n\n")
    .filter((event) => event !== "" && !event.startsWith(":"))
    .map((event) => JSON.parse(event.replace(/^event: message\ndata: /, "")))

interface Asked {
  readonly line: string
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly body: string
}

const rawRequest = ({ line, headers, body }: Asked): Buffer =>
  Buffer.from(`${line}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`)

/** A request with the headers that the message asks for; a header that `over` names is as it says, or left out. */
const asked = (http: HttpPeer, json: string, over: Readonly<Record<string, string | undefined>> = {}): Asked => {
  const parsed = json === "" ? undefined : (JSON.parse(json) as Record<string, Record<string, unknown>> | null)
  const params = parsed?.params
  const meta = params?._meta as Readonly<Record<string, unknown>> | null | undefined
  const version = meta?.["io.modelcontextprotocol/protocolVersion"]
  const headers = {
    host: `127.0.0.1:${http.port}`,
    authorization: `Bearer ${http.token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(json)),
    ...(version !== undefined && {
      "mcp-protocol-version": plain(version),
      "mcp-method": plain(parsed?.method),
      "mcp-name": plain(params?.name ?? params?.taskId)
    }),
    ...over
  }
  const given = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined)
  return { line: "POST /mcp HTTP/1.1", headers: given, body: json }
}

/** What may stand in a header. */
const plain = (value: unknown): string =>
  String(JSON.stringify(value) ?? "")
    .replace(/^"|"$/g, "")
    .replace(/[^ -~]/g, "?")

const last = modern("last", "tools/list")

const assertServes = (http: HttpPeer, input: string) =>
  Effect.gen(function* () {
    const answers = answersIn(
      yield* exchangeBytes(http.port, [rawRequest(asked(http, JSON.stringify(last), { connection: "close" }))])
    )
    assert.deepStrictEqual([answers.length, answers[0]?.status], [1, 200], input)
    assert.propertyVal(JSON.parse(answers[0]?.body ?? ""), "id", "last")
  })

const value = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 12 }),
  fc.constantFrom("", "0", "-1", "1e3", "999999999999", "2, 2", "chunked", "gzip", "identity", "100-continue", "null"),
  fc.constantFrom("text/event-stream", "*/*;q=0", "application/json;q=x", "text/plain", "application/json; charset=x"),
  fc.constantFrom("evil.example", "localhost:1", "http://localhost", "close", "upgrade", "2026-07-28", "2025-11-25")
)

const headerName = fc.oneof(
  fc.constantFrom(
    "host",
    "origin",
    "authorization",
    "accept",
    "content-type",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "expect",
    "connection",
    "upgrade",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "last-event-id",
    "mcp-param-x",
    "__proto__",
    "cookie"
  ),
  fc.string({ minLength: 1, maxLength: 8 })
)

const requestLine = fc.oneof(
  { weight: 6, arbitrary: fc.constant("POST /mcp HTTP/1.1") },
  fc
    .tuple(
      fc.constantFrom("GET", "HEAD", "DELETE", "PUT", "OPTIONS", "POST", "PATCH", "TRACE", "CONNECT", "PRI", "post"),
      fc.constantFrom(
        "/mcp",
        "/",
        "/healthz",
        "/readyz",
        "/mcp?x",
        "/../mcp",
        "*",
        "http://evil.example/mcp",
        "//",
        "/%ff"
      ),
      fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/1.1 ", "")
    )
    .map((parts) => parts.join(" "))
)

describe("HTTP under arbitrary input", () => {
  it.scopedLive(
    "each message is answered well-formed and under its own id",
    () =>
      Effect.gen(function* () {
        const http = yield* openServer
        yield* holds(message, (json) =>
          Effect.gen(function* () {
            yield* forgetTasks
            const answers = answersIn(yield* exchangeBytes(http.port, [rawRequest(asked(http, json))]))
            assertWellFormed(answers, json)
            assert.lengthOf(answers, 1, json)
            const id = json === "" ? undefined : answerableId(JSON.parse(json))
            const said = answers[0]?.headers.get("content-type") === "application/json" ? answers[0].body : "{}"
            const answered = (JSON.parse(said) as { readonly id?: unknown }).id
            if (answered !== undefined) assert.strictEqual(answered, id, json)
            yield* assertServes(http, json)
          })
        )
      }).pipe(Effect.provide(layer)),
    propertyTimeout
  )

  it.scopedLive(
    "whatever the request line, the headers, the body and the cuts, it is answered or closed",
    () =>
      Effect.gen(function* () {
        const http = yield* openServer
        const inputs = fc.tuple(
          fc.record({
            line: requestLine,
            over: fc.dictionary(headerName, fc.option(value, { nil: undefined }), { maxKeys: 4 })
          }),
          fc.oneof(
            message,
            bytes.map((buffer) => buffer.toString("latin1"))
          ),
          cuts
        )
        yield* holds(inputs, ([{ line, over }, body, at]) =>
          Effect.gen(function* () {
            const base = asked(http, JSON.stringify(legacy(1, "ping")), over)
            const whole = rawRequest({ ...base, line, body })
            const isHead = line.startsWith("HEAD ")
            const answers = answersIn(yield* exchangeBytes(http.port, inPieces(whole, at)), isHead)
            assertWellFormed(isHead ? answers.slice(1) : answers, whole.toString("latin1"))
            yield* assertServes(http, whole.toString("latin1"))
          })
        )
      }).pipe(Effect.provide(layer)),
    propertyTimeout
  )

  it.scopedLive(
    "requests on one connection are answered in their order",
    () =>
      Effect.gen(function* () {
        const http = yield* openServer
        yield* holds(fc.tuple(fc.array(message, { maxLength: 5 }), cuts), ([messages, at]) =>
          Effect.gen(function* () {
            yield* forgetTasks
            const requests = [...messages, JSON.stringify(last)].map((json) => rawRequest(asked(http, json)))
            const answers = answersIn(yield* exchangeBytes(http.port, inPieces(Buffer.concat(requests), at)))
            assertWellFormed(answers, messages.join("\n"))
            assert.lengthOf(answers, requests.length, messages.join("\n"))
            assert.propertyVal(JSON.parse(answers.at(-1)?.body ?? ""), "id", "last")
          })
        )
      }).pipe(Effect.provide(layer)),
    propertyTimeout
  )
})
