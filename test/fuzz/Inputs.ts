import fc from "fast-check"
import { call, initialize, legacy, modern, withTasks } from "../mcp/Messages.ts"

const uuid = "11111111-2222-4333-8444-555555555555"

const id = fc.oneof(
  fc.string({ maxLength: 8, unit: "binary" }),
  fc.integer(),
  fc.constantFrom(0, -1, "", Number.MAX_SAFE_INTEGER)
)

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", " ", "null", uuid, "\ud800", "a\u2028b")
)

/** Any JSON, with the shapes and names that programs trip over. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, true, 0, -1, 1.5, 1e21, 2 ** 53, "", "null", uuid, [], {}, [[]], { toString: 1 }),
  text,
  fc.array(fc.constant({}), { maxLength: 3 }),
  fc.integer({ min: 100, max: 3000 }).map((depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown)
)

const toolName = fc.oneof({ weight: 4, arbitrary: fc.constantFrom("agent_run", "agent_status") }, text)

const toolArguments = fc.oneof(
  fc.record(
    {
      request: fc.oneof(text, anything),
      session_id: fc.oneof(fc.constant(uuid), anything),
      temperature: fc.oneof(fc.double({ noNaN: true }), anything),
      images: fc.oneof(fc.array(fc.record({ mime_type: text, data_base64: text }, { requiredKeys: [] })), anything),
      task_id: fc.oneof(fc.constant(uuid), anything)
    },
    { requiredKeys: [] }
  ),
  fc.dictionary(text, anything),
  anything
)

const methods = [
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "tools/call",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "tasks/list",
  "tasks/result",
  "resources/list",
  "prompts/get",
  "logging/setLevel",
  "completion/complete",
  "subscriptions/listen",
  "notifications/initialized",
  "notifications/cancelled",
  "rpc.discover",
  "__proto__",
  ""
] as const

const era = fc.constantFrom(modern, withTasks, (key: string | number, method: string, params?: object) =>
  legacy(key, method, params as never)
)

const called = fc
  .tuple(era, id, toolName, toolArguments)
  .map(([make, key, name, args]) => make(key, "tools/call", call(name, args)))

const named = fc.tuple(era, id, fc.constantFrom(...methods)).map(([make, key, method]) => make(key, method, {}))

const ofTask = fc
  .tuple(era, id, fc.constantFrom("tasks/get", "tasks/update", "tasks/cancel"), fc.oneof(fc.constant(uuid), anything))
  .map(([make, key, method, taskId]) => make(key, method, { taskId, inputResponses: {} }))

const listen = fc
  .tuple(era, id, fc.oneof(fc.record({ taskIds: fc.oneof(fc.array(text), anything) }), anything))
  .map(([make, key, notifications]) => make(key, "subscriptions/listen", { notifications }))

const begin = fc.tuple(id, fc.oneof(fc.constantFrom("2025-11-25", "2025-06-18", "2024-11-05"), anything))

const notification = fc
  .tuple(fc.constantFrom(...methods), fc.option(fc.dictionary(text, anything), { nil: undefined }))
  .map(([method, params]) => ({ jsonrpc: "2.0", method, ...(params !== undefined && { params }) }))

/** Messages that are right, or nearly so. */
export const plausible: fc.Arbitrary<object> = fc.oneof(
  called,
  named,
  ofTask,
  listen,
  begin.map(([key, version]) => initialize(key, version)),
  notification
)

const members = ["jsonrpc", "id", "method", "params", "result", "error", "extra"] as const
const inner = ["_meta", "name", "arguments", "taskId", "notifications", "protocolVersion", "task"] as const
const meta = [
  "io.modelcontextprotocol/protocolVersion",
  "io.modelcontextprotocol/clientCapabilities",
  "io.modelcontextprotocol/clientInfo",
  "progressToken",
  "io.modelcontextprotocol/logLevel"
] as const

const place = fc.oneof(
  fc.tuple(fc.constantFrom(...members)),
  fc.tuple(fc.constant("params"), fc.constantFrom(...inner)),
  fc.tuple(fc.constant("params"), fc.constant("_meta"), fc.constantFrom(...meta))
)

const change = fc.tuple(place, fc.option(anything, { nil: undefined }))

/** A copy with one member set, or deleted where there is no value. */
const changed = (root: unknown, [first, ...rest]: ReadonlyArray<string>, value: unknown): unknown => {
  if (first === undefined) return value
  if (root === null || typeof root !== "object" || Array.isArray(root)) return root
  const copy = { ...root } as Record<string, unknown>
  copy[first] = changed(copy[first], rest, value)
  return copy
}

const mutated = fc
  .tuple(plausible, fc.array(change, { minLength: 1, maxLength: 3 }))
  .map(([message, changes]) => changes.reduce<unknown>((root, [path, value]) => changed(root, path, value), message))

/** What a client may send, good or bad, as JSON. */
export const message: fc.Arbitrary<string> = fc
  .oneof(plausible, mutated, anything, fc.array(plausible, { maxLength: 3 }))
  .map((value) => JSON.stringify(value) ?? "")
  .map((json) => json.replaceAll('"extra":', '"__proto__":'))

const splice = fc.record({
  at: fc.nat({ max: 400 }),
  remove: fc.nat({ max: 6 }),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc
      .constantFrom("\n", "\r\n", "\ufeff", "\0", "1e999", "-", "\\ud800", '"__proto__":{"a":1},', "{", "]")
      .map((part) => Buffer.from(part))
  )
})

/** Bytes that once were a message, with some of them gone and others put in; or no message at all. */
export const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc.tuple(message, fc.array(splice, { maxLength: 3 })).map(([json, splices]) =>
    splices.reduce((buffer, { at, remove, insert }) => {
      const start = Math.min(at, buffer.length)
      return Buffer.concat([buffer.subarray(0, start), insert, buffer.subarray(start + remove)])
    }, Buffer.from(json))
  )
)

/** Where a stream is cut into the pieces in which it is sent. */
export const cuts = fc.array(fc.nat({ max: 2000 }), { maxLength: 8 })

export const inPieces = (whole: Buffer, at: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const places = [...new Set([0, ...at.map((place) => Math.min(place, whole.length)), whole.length])].sort(
    (a, b) => a - b
  )
  return places.slice(1).map((end, index) => whole.subarray(places[index], end))
}
