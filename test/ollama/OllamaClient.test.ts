import { assert, layer } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { type ChatDelta, OllamaClient } from "../../src/ollama/OllamaClient.ts"
import { chat, chatRequest } from "../support/ScriptedChat.ts"
import {
  bytes,
  done,
  html,
  json,
  pause,
  type Reply,
  records,
  say,
  scriptedOllama,
  text,
  think,
  thinking,
  toolCall,
  toolCalls
} from "../support/ScriptedOllama.ts"

const replyTo = (reply: Reply) => Effect.flatMap(scriptedOllama([reply]), chat)

layer(OllamaClient.layer)("OllamaClient.chat", (it) => {
  it.scoped("sends what keeps a prompt whole, and nothing that is not asked for", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([text("a")])
      yield* chat(server)
      assert.deepStrictEqual(server.requests[0]?.body as unknown, {
        model: "scripted",
        messages: [{ role: "user", content: "hi" }],
        options: { num_ctx: 4096 },
        stream: true,
        truncate: false,
        shift: false,
        keep_alive: "600000ms"
      })
    })
  )

  it.scoped("sends tools, format, think, temperature, images and an endless keep-alive", () =>
    Effect.gen(function* () {
      const models = [{ name: "scripted", capabilities: ["completion", "tools", "thinking", "vision"] }]
      const server = yield* scriptedOllama([text("a")], { models })
      const tools = [
        { type: "function", function: { name: "x", description: "d", parameters: { type: "object" } } }
      ] as const
      yield* chat(server, {
        tools,
        format: { type: "object" },
        think: "low",
        messages: [{ role: "user", content: "look", images: ["AAAA"] }],
        options: { num_ctx: 4096, temperature: 0 },
        keepAlive: -1
      })
      const body = server.requests[0]?.body as unknown as Record<string, unknown>
      assert.deepStrictEqual(body.tools, tools)
      assert.deepStrictEqual(body.format, { type: "object" })
      assert.strictEqual(body.think, "low")
      assert.deepStrictEqual(body.options, { num_ctx: 4096, temperature: 0 })
      assert.deepStrictEqual(body.messages, [{ role: "user", content: "look", images: ["AAAA"] }])
      assert.strictEqual(body.keep_alive, -1)
    })
  )

  it.scoped("puts a turn together and tells each piece as it arrives", () =>
    Effect.gen(function* () {
      const said = yield* Ref.make<ReadonlyArray<ChatDelta>>([])
      const server = yield* scriptedOllama([[think("hm"), say("Hel"), say("lo"), done()]])
      const reply = yield* chat(server, {}, (delta) => Ref.update(said, (before) => [...before, delta]))
      assert.deepStrictEqual(reply, {
        content: "Hello",
        thinking: "hm",
        toolCalls: [],
        doneReason: "stop",
        promptTokens: 20,
        outputTokens: 5,
        promptMillis: 1
      })
      assert.deepStrictEqual(yield* Ref.get(said), [
        { content: "", thinking: "hm", attempt: 1 },
        { content: "Hel", thinking: "", attempt: 1 },
        { content: "lo", thinking: "", attempt: 1 }
      ])
    })
  )

  it.scoped("tells a piece before the next one is there", () =>
    Effect.gen(function* () {
      let open = () => {}
      const latch = new Promise<void>((resolve) => {
        open = resolve
      })
      const server = yield* scriptedOllama([[say("a"), pause(latch), say("b"), done()]])
      const reply = yield* chat(server, {}, () => Effect.sync(open))
      assert.strictEqual(reply.content, "ab")
    })
  )

  // A02
  it.scoped("keeps a call that comes before an empty last record", () =>
    Effect.gen(function* () {
      const reply = yield* replyTo(toolCall("read_file", { path: "a.txt" }))
      assert.deepStrictEqual(reply.toolCalls, [{ name: "read_file", arguments: { path: "a.txt" } }])
      assert.strictEqual(reply.doneReason, "stop")
    })
  )

  it.scoped("takes a call from the last record too", () =>
    Effect.gen(function* () {
      const tool_calls = [{ function: { name: "list_files", arguments: {} } }]
      const reply = yield* replyTo(records({ message: { role: "assistant", content: "", tool_calls }, done: true }))
      assert.deepStrictEqual(reply.toolCalls, [{ name: "list_files", arguments: {} }])
    })
  )

  // A03
  it.scoped("keeps parallel calls apart though all have index 0 and no id", () =>
    Effect.gen(function* () {
      const first = { name: "write_file", arguments: { path: "a.txt", content: "1" } }
      const second = { name: "write_file", arguments: { path: "b.txt", content: "2" } }
      const alone = (each: unknown) => ({
        message: { role: "assistant", content: "", tool_calls: [{ function: { index: 0, ...(each as object) } }] },
        done: false
      })
      const apart = yield* replyTo([...records(alone(first), alone(second)), done()])
      assert.deepStrictEqual(apart.toolCalls, [first, second])
      const together = yield* replyTo(toolCalls([first, second]))
      assert.deepStrictEqual(together.toolCalls, [first, second])
    })
  )

  // A06
  it.scoped("reads arguments that are a JSON string, and keeps a string that is none", () =>
    Effect.gen(function* () {
      const reply = yield* replyTo(
        toolCalls([
          { name: "a", arguments: `{"path":"x"}` },
          { name: "b", arguments: `{"path":` }
        ])
      )
      assert.deepStrictEqual(reply.toolCalls, [
        { name: "a", arguments: { path: "x" } },
        { name: "b", arguments: `{"path":` }
      ])
    })
  )

  // A44
  it.scoped("takes missing, null and empty arguments as an empty object, and leaves an array to the agent", () =>
    Effect.gen(function* () {
      const name = "list_files"
      const reply = yield* replyTo(
        toolCalls([{ name }, { name, arguments: null }, { name, arguments: "" }, { name, arguments: [] }])
      )
      assert.deepStrictEqual(
        reply.toolCalls.map((each) => each.arguments),
        [{}, {}, {}, []]
      )
    })
  )

  // A35
  it.scoped("hands names over as they come, and a call without one as an empty name", () =>
    Effect.gen(function* () {
      const names = ["read_file<|channel|>analysis", "functions.read_file", "", "__proto__", "toString"]
      const reply = yield* replyTo(toolCalls(names.map((name) => ({ name, arguments: {} }))))
      assert.deepStrictEqual(
        reply.toolCalls.map((each) => each.name),
        names
      )
      const tool_calls = [null, 5, {}, { function: null }, { function: { name: 7 } }]
      const odd = yield* replyTo(records({ message: { content: "", tool_calls }, done: true }))
      assert.deepStrictEqual(odd.toolCalls, Array(5).fill({ name: "", arguments: {} }))
    })
  )

  // A09, A43
  it.scoped("gives the text around calls whole, and reads no markup in it", () =>
    Effect.gen(function* () {
      const markup = ["I will look.\n<tool_", `call>\n{"name": "read_file", "arguments": {}}\n</tool`, "_call>"]
      const reply = yield* replyTo(text(markup))
      assert.strictEqual(reply.content, markup.join(""))
      assert.deepStrictEqual(reply.toolCalls, [])
      const both = yield* replyTo([say("First I will look. "), ...toolCall("read_file", { path: "a.txt" })])
      assert.strictEqual(both.content, "First I will look. ")
      assert.strictEqual(both.toolCalls.length, 1)
    })
  )

  // A17
  it.scoped("accepts an end without a reason, and a reason without a done flag", () =>
    Effect.gen(function* () {
      const reply = yield* replyTo(text("hello", { doneReason: null, promptTokens: 3, outputTokens: 1 }))
      assert.deepInclude(reply, { content: "hello", doneReason: null, promptTokens: 3, outputTokens: 1 })
      const message = { role: "assistant", content: "hi" }
      const reason = yield* replyTo(records({ message }, { message: { content: "" }, done_reason: "stop" }))
      assert.deepInclude(reason, { content: "hi", doneReason: "stop" })
    })
  )

  // A19, A20
  it.scoped("keeps thinking apart from content, with the reason and the counts", () =>
    Effect.gen(function* () {
      const reply = yield* replyTo(
        thinking("still considering", { doneReason: "length", promptTokens: 40, outputTokens: 512 })
      )
      assert.deepInclude(reply, { content: "", thinking: "still considering", doneReason: "length", outputTokens: 512 })
      const load = yield* replyTo(text("", { doneReason: "load", promptTokens: null, outputTokens: null }))
      assert.deepInclude(load, { doneReason: "load", promptTokens: null, outputTokens: null, promptMillis: null })
    })
  )

  it.scoped("takes counts that are no counts as unknown, and fields of a wrong type as absent", () =>
    Effect.gen(function* () {
      const reply = yield* replyTo(
        bytes(
          `{"message":{"content":null,"thinking":5,"tool_calls":"x"},"done":"no"}\n`,
          `{"message":{"content":"ok"},"done":true,"done_reason":7,"prompt_eval_count":-1,"eval_count":1e999}\n`
        )
      )
      assert.deepInclude(reply, { content: "ok", thinking: "", promptTokens: null, outputTokens: null })
    })
  )

  // A32
  it.scoped("never splits a character that is cut between two chunks", () =>
    Effect.gen(function* () {
      const line = Buffer.from(`{"message":{"role":"assistant","content":"ь🌍"},"done":false}\n`)
      const [d1, f0] = [line.indexOf(0xd1) + 1, line.indexOf(0xf0) + 2]
      const reply = yield* replyTo([
        ...bytes(line.subarray(0, d1), line.subarray(d1, f0), line.subarray(f0)),
        ...text("")
      ])
      assert.strictEqual(reply.content, "ь🌍")
    })
  )

  it.scoped("takes records however they are cut: byte by byte, all at once, without a last newline", () =>
    Effect.gen(function* () {
      const body = `{"message":{"content":"é"}}\n\r\n\n{"message":{"content":"n"},"done":true}`
      const each = [...Buffer.from(body)].map((byte) => Buffer.from([byte]))
      assert.strictEqual((yield* replyTo(bytes(...each))).content, "én")
      assert.strictEqual((yield* replyTo(bytes(body))).content, "én")
    })
  )

  // A31
  it.scoped("takes a call with 200 KB of content", () =>
    Effect.gen(function* () {
      const content = "0123456789".repeat(20_000)
      const reply = yield* replyTo([say("x"), ...toolCall("write_file", { path: "a", content })])
      assert.deepStrictEqual(reply.toolCalls[0]?.arguments, { path: "a", content })
    })
  )

  it.scoped("passes over a record that it does not know where the turn goes on", () =>
    Effect.gen(function* () {
      const reply = yield* replyTo([...records({ status: "loading" }), ...text("ok")])
      assert.strictEqual(reply.content, "ok")
    })
  )

  it.scoped("ends with the last record, whatever comes after it", () =>
    Effect.gen(function* () {
      const reply = yield* replyTo([...text("ok"), ...bytes(`{"error":"late"}\nnoise`), { _tag: "Cut" }])
      assert.strictEqual(reply.content, "ok")
    })
  )
})

layer(OllamaClient.layer)("OllamaClient.show, tags, ps, version", (it) => {
  it.scoped("tells what a model can, what it was trained for, and where it runs", () =>
    Effect.gen(function* () {
      const client = yield* OllamaClient
      const server = yield* scriptedOllama([], {
        models: [
          { name: "near", capabilities: ["completion", "vision"], contextLength: 8192 },
          { name: "far", remoteHost: "https://ollama.com:443", contextLength: null }
        ]
      })
      assert.deepStrictEqual(yield* client.show(server.url, "near"), {
        capabilities: ["completion", "vision"],
        contextLength: 8192,
        remoteHost: null
      })
      const far = yield* client.show(server.url, "far")
      assert.deepInclude(far, { contextLength: null, remoteHost: "https://ollama.com:443" })
      const missing = yield* Effect.flip(client.show(server.url, "none"))
      assert.deepInclude(missing, { _tag: "OllamaModelMissing", model: "none", message: "model 'none' not found" })
    })
  )

  it.scoped("lists models, those that are loaded with their real context, and the version", () =>
    Effect.gen(function* () {
      const client = yield* OllamaClient
      const server = yield* scriptedOllama([text("a")], {
        models: [{ name: "small", contextLength: 2048, size: 7 }],
        version: "0.17.4"
      })
      assert.deepStrictEqual(yield* client.tags(server.url), [{ name: "small:latest", size: 7 }])
      assert.deepStrictEqual(yield* client.ps(server.url), [])
      yield* client.chat(server.url, { ...chatRequest, model: "small" })
      assert.deepStrictEqual(yield* client.ps(server.url), [{ name: "small:latest", size: 7, contextLength: 2048 }])
      assert.strictEqual(yield* client.version(server.url), "0.17.4")
    })
  )

  it.scoped("says what came where it is none of Ollama's", () =>
    Effect.gen(function* () {
      const client = yield* OllamaClient
      const server = yield* scriptedOllama([], {
        plain: {
          "GET /api/version": html(200, "<html><body>Welcome to nginx!</body></html>"),
          "GET /api/tags": json(200, [])
        }
      })
      const page = yield* Effect.flip(client.version(server.url))
      assert.include(page.message, "Welcome to nginx!")
      assert.strictEqual(page._tag, "OllamaRefused")
      assert.strictEqual((yield* Effect.flip(client.tags(server.url)))._tag, "OllamaRefused")
    })
  )
})
