import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { AssistantMessage } from "../../src/domain/Message.ts"
import type { TaskSettings } from "../../src/domain/Settings.ts"
import { contextExceeded, error, json, type Reply, record, say, text, toolCall } from "../support/ScriptedOllama.ts"
import { passWait } from "../support/ScriptedWait.ts"
import { type HarnessOptions, harness } from "./harness.ts"

/** Waits that the client makes before it gives up, in milliseconds. */
const BACK_OFF = [500, 1000, 2000, 4000, 8000, 8000, 6500]

const waited = <A, E>(effect: Effect.Effect<A, E>, waits: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    for (const wait of waits) yield* passWait(wait)
    return yield* Fiber.join(fiber)
  })

const agentSettings =
  (agent: Partial<TaskSettings["agent"]>): NonNullable<HarnessOptions["settings"]> =>
  (defaults) => ({ ...defaults, agent: { ...defaults.agent, ...agent } })

const ollamaSettings =
  (ollama: Partial<TaskSettings["ollama"]>): NonNullable<HarnessOptions["settings"]> =>
  (defaults) => ({ ...defaults, ollama: { ...defaults.ollama, ...ollama } })

describe("AgentLoop, what fails before the model is asked", () => {
  it.scoped("names the command that starts Ollama where nothing answers", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([])
      const { url } = server
      yield* Effect.promise(() => server.stop())
      const reason = yield* failure()
      assert.include(reason, url)
      assert.match(reason, /ECONNREFUSED.*`ollama serve`/)
    })
  )

  it.scoped("names the command that fetches a model that is not there", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([], { settings: ollamaSettings({ model: "nowhere:7b" }) })
      assert.match(yield* failure(), /`ollama pull nowhere:7b`/)
      assert.strictEqual(server.requests.length, 0)
    })
  )

  // A25: known before any chat
  it.scoped("names model and capability where the model cannot call tools", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([], { models: [{ name: "plain", capabilities: ["completion"] }] })
      assert.match(yield* failure(), /plain.*tools capability/)
      assert.strictEqual(server.requests.length, 0)
    })
  )

  // A25: the server says otherwise than its description
  it.scoped("does not ask again where the server refuses tools", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([
        error(400, "registry.ollama.ai/library/smollm2:360m does not support tools")
      ])
      assert.match(yield* failure(), /scripted has no tools capability.*smollm2:360m does not support tools/)
      assert.strictEqual(server.requests.length, 1)
      assert.isDefined(server.requests[0]?.body.tools)
    })
  )

  it.scoped("refuses a model that runs in a cloud, unless that is allowed", () =>
    Effect.gen(function* () {
      const models = [{ name: "big-cloud", remoteHost: "https://ollama.com" }]
      const refused = yield* harness([], { models })
      assert.match(yield* refused.failure(), /big-cloud runs in a cloud.*ollama\.allow_remote/)
      const allowed = yield* harness([text("hi")], { models, settings: ollamaSettings({ allowRemote: true }) })
      assert.strictEqual(yield* allowed.answer(), "hi")
    })
  )

  it.scoped("sends the smaller of the settings' context and the model's own", () =>
    Effect.gen(function* () {
      const { answer, server } = yield* harness([text("hi")], { models: [{ name: "small", contextLength: 2048 }] })
      yield* answer()
      assert.strictEqual(server.requests[0]?.body.options.num_ctx, 2048)
    })
  )

  it.scoped("sends think only to models that can", () =>
    Effect.gen(function* () {
      const capabilities = ["completion", "tools", "thinking"]
      const sent = (models: HarnessOptions["models"], think: TaskSettings["ollama"]["think"]) =>
        Effect.gen(function* () {
          const { answer, server } = yield* harness([text("hi")], {
            ...(models && { models }),
            settings: ollamaSettings({ think })
          })
          yield* answer()
          return server.requests[0]?.body.think
        })
      assert.isUndefined(yield* sent(undefined, true))
      assert.strictEqual(yield* sent([{ name: "t", capabilities }], "auto"), true)
      assert.strictEqual(yield* sent([{ name: "t", capabilities }], false), false)
      assert.strictEqual(yield* sent([{ name: "t", capabilities }], "low"), "low")
    })
  )

  it.scoped("tells what mends the absence of a tool, in the task's language", () =>
    Effect.gen(function* () {
      const reason = { ja: "bubblewrap を入れてください", en: "install bubblewrap" }
      const { failure, prompts } = yield* harness([text(""), text("")], {
        withheld: [{ name: "shell", reason }],
        settings: (defaults) => ({ ...defaults, locale: "ja" })
      })
      assert.match(yield* failure(), /返答が空でした.*\nツール shell は使えませんでした: bubblewrap を入れてください$/s)
      assert.match(prompts()[0]?.[0]?.content ?? "", /Not available here: shell/)
    })
  )
})

describe("AgentLoop, what fails while the model is asked", () => {
  // A12, A13, A16
  const broken: ReadonlyArray<readonly [string, Reply, RegExp]> = [
    [
      "an error record after half of the answer",
      [say("Par"), say("tial"), record({ error: "an error was encountered while running the model" })],
      /an error was encountered while running the model/
    ],
    [
      "a record under a wrong key",
      [record({ "error reading tool call": "invalid character 'c' looking for beginning of value" })],
      /invalid character 'c'/
    ],
    ["an end without a last record", [say("The answer is 4")], /ended before its last record/]
  ]
  for (const [what, reply, reason] of broken) {
    it.scoped(`tries again after ${what}`, () =>
      Effect.gen(function* () {
        const { answer } = yield* harness([reply, text("The answer is 42.")])
        assert.strictEqual(yield* waited(answer(), [500]), "The answer is 42.")
      })
    )

    it.scoped(`fails after ${what} that stays, and does not take the half for an answer`, () =>
      Effect.gen(function* () {
        const { failure, store } = yield* harness([], { otherwise: reply })
        assert.match(yield* waited(failure(), BACK_OFF), reason)
        assert.deepStrictEqual(store.history.length, 1)
        assert.match(String(store.events.at(-1)?.detail?.error), reason)
      })
    )
  }

  // A27
  it.scoped("waits for a busy server", () =>
    Effect.gen(function* () {
      const busy = error(503, "server busy, please try again.  maximum pending requests exceeded")
      const { answer } = yield* harness([busy, busy, text("ok")])
      assert.strictEqual(yield* waited(answer(), [500, 1000]), "ok")
    })
  )

  it.scoped("gives up on a server that stays busy, with its words", () =>
    Effect.gen(function* () {
      const { failure } = yield* harness([], { otherwise: error(503, "server busy, please try again.") })
      assert.match(yield* waited(failure(), BACK_OFF), /HTTP 503.*server busy/)
    })
  )

  // A38
  it.scoped("says how to make room where nothing is left to shorten", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([
        error(400, "request (4165 tokens) exceeds the available context size (4096 tokens), try increasing it")
      ])
      assert.match(yield* failure(), /Context overflow.*4096 tokens.*ollama\.num_ctx/)
      assert.strictEqual(server.requests.length, 1)
    })
  )

  it.scoped("shortens old tool output and asks again where the prompt does not fit", () =>
    Effect.gen(function* () {
      const long = "0123456789".repeat(500)
      const { answer, prompts, calls } = yield* harness(
        [1, 2, 3, 4]
          .map((n): Reply => toolCall("read_file", { path: `${n}.txt` }))
          .concat([contextExceeded(), text("done")]),
        { handler: () => long }
      )
      assert.strictEqual(yield* answer(), "done")
      assert.strictEqual(calls.length, 4)
      const results = (index: number) =>
        prompts()
          [index]?.filter(({ role }) => role === "tool")
          .map(({ content }) => content.length)
      assert.deepStrictEqual(results(4), [5000, 5000, 5000, 5000])
      const after = results(5) ?? []
      assert.isBelow(after[0]!, 600)
      assert.deepStrictEqual(after.slice(-2), [5000, 5000])
    })
  )

  it.scoped("gives up where the prompt does not fit after it was shortened three times", () =>
    Effect.gen(function* () {
      const { accept, run, store, server } = yield* harness([], {
        otherwise: contextExceeded(),
        models: [{ name: "wide", contextLength: 1_000_000 }],
        settings: ollamaSettings({ numCtx: 1_000_000 })
      })
      const earlier = accept("earlier")
      for (let n = 0; n < 2000; n++) {
        store.append(earlier.id, new AssistantMessage({ content: `said ${n}`, thinking: "", toolCalls: [] }))
      }
      const failure = yield* Effect.flip(run(accept()))
      assert.match(String(failure._tag === "AgentFailed" && failure.reason), /Context overflow/)
      assert.strictEqual(server.requests.length, 4)
      const sizes = server.requests.map(({ body }) => body.messages.length)
      assert.deepStrictEqual(
        [...sizes].sort((left, right) => right - left),
        sizes
      )
    })
  )

  // A37
  it.scoped("fails with a context overflow where the server dropped most of the prompt without a word", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([], { otherwise: text("Hi there!", { promptTokens: 2051 }) })
      assert.match(yield* failure("word ".repeat(14_000)), /Context overflow/)
      assert.isAtMost(server.requests.length, 4)
      assert.strictEqual(server.requests[0]?.body.options.num_ctx, 16384)
    })
  )

  it.scoped("does not run a call that Ollama could not read, and tells the model why", () =>
    Effect.gen(function* () {
      const bad = error(500, "error parsing tool call: raw='{\"path\": }', err=invalid character '}'")
      const { answer, prompts } = yield* harness([bad, bad, text("ok")])
      assert.strictEqual(yield* answer(), "ok")
      assert.match(prompts()[2]?.at(-1)?.content ?? "", /could not be read.*invalid character/)
    })
  )

  it.scoped("gives up on a model that keeps writing calls that Ollama cannot read", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([], { otherwise: error(500, "error parsing tool call: raw='{'") })
      assert.match(yield* failure(), /tool calls that Ollama cannot read.*error parsing tool call/)
      assert.strictEqual(server.requests.length, 3)
    })
  )

  it.scoped("fails at once on any other refusal, with the server's words", () =>
    Effect.gen(function* () {
      const { failure, server } = yield* harness([json(403, { error: "forbidden by policy" })])
      assert.match(yield* failure(), /HTTP 403.*forbidden by policy/)
      assert.strictEqual(server.requests.length, 1)
    })
  )
})

describe("AgentLoop, its limits", () => {
  it.scoped("stops after the turns that are allowed", () =>
    Effect.gen(function* () {
      const { failure, calls } = yield* harness(
        [1, 2].map((n) => toolCall("read_file", { path: `${n}.txt` })),
        { settings: agentSettings({ maxTurns: 2 }) }
      )
      assert.match(yield* failure(), /limit of 2 turns.*agent\.max_turns/)
      assert.strictEqual(calls.length, 2)
    })
  )

  it.scoped("stops where the tokens are used up, and keeps an answer that came with the last of them", () =>
    Effect.gen(function* () {
      const settings = agentSettings({ maxTokens: 25 })
      const over = yield* harness([toolCall("read_file", { path: "a" })], { settings })
      assert.match(yield* over.failure(), /limit of 25 tokens.*agent\.max_tokens/)
      const done = yield* harness([text("ok")], { settings })
      assert.strictEqual(yield* done.answer(), "ok")
    })
  )

  it.scoped("stops when the time is up, and ends the running tool", () =>
    Effect.gen(function* () {
      let ended = false
      const { failure } = yield* harness([toolCall("shell", { command: "sleep 9999" })], {
        handler: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (ended = true))),
        settings: agentSettings({ maxDuration: 2500 })
      })
      assert.match(yield* waited(failure(), [1000, 1000, 500]), /limit of 2\.5 seconds.*agent\.max_duration/)
      assert.isTrue(ended)
    })
  )

  it.scoped("stops at the third turn in a row with exactly the same calls, which does not run", () =>
    Effect.gen(function* () {
      const { failure, calls, prompts } = yield* harness([
        toolCall("shell", { command: "npm test" }),
        toolCall("shell", { command: "npm test" }),
        toolCall("shell", { command: "npm test" })
      ])
      assert.match(yield* failure(), /exactly the same calls \(shell npm test\) in three turns/)
      assert.strictEqual(calls.length, 2)
      assert.match(prompts()[2]?.at(-1)?.content ?? "", /exactly this call in the turn before/)
    })
  )

  it.scoped("takes the same call with others in between for work", () =>
    Effect.gen(function* () {
      const test = toolCall("shell", { command: "npm test" })
      const edit = (n: number) => toolCall("write_file", { path: "a", content: String(n) })
      const { answer } = yield* harness([test, edit(1), test, edit(2), test, edit(3), test, text("green")])
      assert.strictEqual(yield* answer(), "green")
    })
  )
})
