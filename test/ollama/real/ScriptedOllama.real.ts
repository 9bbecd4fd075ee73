import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { contextExceeded, scriptedOllama, text, toolCall } from "../../support/ScriptedOllama.ts"
import { readFileTool, realModel, realUrl } from "./RealOllama.ts"

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const ask = (url: string, path: string, body?: unknown): Effect.Effect<Answer> =>
  Effect.promise(async () => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
    const response = await fetch(url + path, init)
    const type = (response.headers.get("content-type") ?? "").replace(/;.*/, "")
    return { status: response.status, type, body: await response.text() }
  })

const chat = (content: string, more: Readonly<Record<string, unknown>> = {}) => ({
  model: realModel,
  messages: [{ role: "user", content }],
  stream: true,
  truncate: false,
  shift: false,
  keep_alive: "600000ms",
  options: { num_ctx: 2048, temperature: 0 },
  ...more
})

/** The names and types of a value, without its content. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== "object" || value === null) return typeof value
  const entries = Object.entries(value).filter(([name]) => name !== "arguments")
  return Object.fromEntries(entries.map(([name, each]) => [name, shapeOf(each)]))
}

/** The kinds of records in a stream, in order of appearance. */
const kindsOf = (body: string): ReadonlyArray<string> => [
  ...new Set(
    body
      .trimEnd()
      .split("\n")
      .map((line) => JSON.stringify(shapeOf(JSON.parse(line))))
  )
]

const models = [{ name: realModel }]

describe("ScriptedOllama beside a real server", () => {
  it.scoped("streams the same kinds of records", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([text(["Hel", "lo"]), toolCall("read_file", { path: "a.txt" })], { models })
      for (const body of [chat("Say hello."), chat("Read the file a.txt", { tools: [readFileTool] })]) {
        const [real, played] = [yield* ask(realUrl, "/api/chat", body), yield* ask(server.url, "/api/chat", body)]
        assert.deepStrictEqual([played.status, played.type], [real.status, real.type])
        assert.deepStrictEqual(kindsOf(played.body), kindsOf(real.body))
      }
    })
  )

  it.scoped("refuses in the same words", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([contextExceeded()], { models })
      for (const [path, body] of [
        ["/api/chat", chat("hi", { model: "no-such-model" })],
        ["/api/show", { model: "no-such-model" }],
        ["/api/chat", chat("hi", { think: true })],
        ["/api/chat", chat("word ".repeat(5000))],
        ["/api/nothing", {}]
      ] as const) {
        assert.deepStrictEqual(yield* ask(server.url, path, body), yield* ask(realUrl, path, body))
      }
    })
  )

  it.scoped("lists models and what is loaded with the same fields", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([text("a")], { models })
      for (const url of [realUrl, server.url]) yield* ask(url, "/api/chat", chat("Say hello."))
      for (const path of ["/", "/api/version", "/api/tags", "/api/ps"]) {
        const [real, played] = [yield* ask(realUrl, path), yield* ask(server.url, path)]
        const shape = (answer: Answer) => (path === "/" ? answer.body : shapeOf(JSON.parse(answer.body)))
        assert.deepStrictEqual([played.status, shape(played)], [real.status, shape(real)])
      }
    })
  )

  it.scoped("shows a model with fields that a real server has too", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([], { models })
      const shown = (url: string) =>
        Effect.map(ask(url, "/api/show", { model: realModel }), (answer) => JSON.parse(answer.body) as object)
      const [real, played] = [yield* shown(realUrl), yield* shown(server.url)]
      const kinds = (all: object) => Object.entries(all).map(([name, value]) => `${name}: ${typeof value}`)
      assert.includeMembers(kinds(real), kinds(played))
    })
  )
})
