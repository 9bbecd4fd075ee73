import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { call, done, hang, say, text, thinking, toolCall, toolCalls } from "../support/ScriptedOllama.ts"
import { harness } from "./harness.ts"

describe("AgentLoop", () => {
  it.scoped("answers with the text of the model's last turn", () =>
    Effect.gen(function* () {
      const { answer, store } = yield* harness([text("Done.")])
      assert.strictEqual(yield* answer(), "Done.")
      assert.deepStrictEqual(store.usage, { input: 20, output: 5 })
      assert.deepStrictEqual(store.records.at(-1)?.steps, { completed: 1, planned: 1 })
    })
  )

  it.scoped("records what happens in its order, one commit a turn and one a tool result", () =>
    Effect.gen(function* () {
      const { answer, store } = yield* harness([toolCall("read_file", { path: "a.txt" }), text("It says 4.")])
      yield* answer()
      assert.deepStrictEqual(
        store.records.map(({ status, currentTask, messages = [], events = [] }) => [
          status,
          currentTask,
          messages.map((message) => message._tag).join(),
          events.map(({ event }) => event).join()
        ]),
        [
          ["running", "ollama chat", "", ""],
          [undefined, "read_file a.txt", "assistant", "model_call"],
          [undefined, "ollama chat", "tool", "tool_call"],
          [undefined, "", "assistant", "model_call"]
        ]
      )
      const [, tool] = store.events
      assert.deepInclude(tool?.detail, { tool: "read_file", subject: "read_file a.txt", outcome: "ok" })
    })
  )

  // A02
  it.scoped("runs a call that comes before an empty last record, once", () =>
    Effect.gen(function* () {
      const { answer, calls } = yield* harness([toolCall("read_file", { path: "a.txt" }), text("ok")])
      assert.strictEqual(yield* answer(), "ok")
      assert.deepStrictEqual(calls, [{ name: "read_file", args: { path: "a.txt" } }])
    })
  )

  // A03
  it.scoped("runs parallel calls that share an index in their order, each with a result of its own", () =>
    Effect.gen(function* () {
      const { answer, calls, prompts } = yield* harness(
        [
          [
            call({ name: "write_file", arguments: { path: "a.txt", content: "1" } }),
            call({ name: "write_file", arguments: { path: "b.txt", content: "2" } }),
            done()
          ],
          text("ok")
        ],
        { handler: (_, args) => `wrote ${args.path}` }
      )
      yield* answer()
      assert.deepStrictEqual(
        calls.map(({ args }) => args),
        [
          { path: "a.txt", content: "1" },
          { path: "b.txt", content: "2" }
        ]
      )
      assert.deepStrictEqual(prompts()[1]?.slice(-2), [
        { role: "tool", content: "wrote a.txt", tool_name: "write_file" },
        { role: "tool", content: "wrote b.txt", tool_name: "write_file" }
      ])
    })
  )

  // A06: the scripted server refuses a replayed call whose arguments are no object
  it.scoped("stores arguments that came as a JSON string as an object, for later tasks, too", () =>
    Effect.gen(function* () {
      const { answer, calls } = yield* harness([toolCall("read_file", '{"path": "a.txt"}'), text("one"), text("two")])
      assert.strictEqual(yield* answer("first"), "one")
      assert.strictEqual(yield* answer("second"), "two")
      assert.deepStrictEqual(calls[0]?.args, { path: "a.txt" })
    })
  )

  // A43
  it.scoped("keeps what was said beside a call, and answers with the last turn alone", () =>
    Effect.gen(function* () {
      const { answer, prompts } = yield* harness([
        [say("First I will look. "), call({ name: "read_file", arguments: { path: "a.txt" } }), done()],
        text("It says 4.")
      ])
      assert.strictEqual(yield* answer(), "It says 4.")
      const replayed = prompts()[1]?.[2]
      assert.strictEqual(replayed?.content, "First I will look. ")
      assert.strictEqual(replayed?.tool_calls?.length, 1)
    })
  )

  // A44
  it.scoped("takes missing arguments as none, and tells the model of an array", () =>
    Effect.gen(function* () {
      const list = (args?: unknown) => [call({ name: "list_files", arguments: args }), done()]
      const { answer, calls, store } = yield* harness([
        toolCalls([
          { name: "list_files" },
          { name: "list_files", arguments: null },
          { name: "list_files", arguments: "" }
        ]),
        list([]),
        text("ok")
      ])
      yield* answer()
      assert.deepStrictEqual(calls, Array(3).fill({ name: "list_files", args: {} }))
      const last = store.history.findLast(({ message }) => message._tag === "tool")?.message
      assert.deepInclude(last, { outcome: "error" })
      assert.match(last?.content ?? "", /must be one JSON object.*an array/)
    })
  )

  // A35
  it.scoped("answers every odd tool name with the names that there are", () =>
    Effect.gen(function* () {
      const names = [
        "read_file<|channel|>analysis",
        "read_fileread_file",
        "functions.read_file",
        "",
        "__proto__",
        "toString"
      ]
      const { answer, store } = yield* harness([...names.map((name) => toolCall(name, {})), text("I give up.")])
      assert.strictEqual(yield* answer(), "I give up.")
      const results = store.history.flatMap(({ message }) => (message._tag === "tool" ? [message] : []))
      assert.strictEqual(results.length, names.length)
      for (const result of results) {
        assert.strictEqual(result.outcome, "error")
        assert.match(result.content, /read_file, list_files, write_file, shell/)
      }
    })
  )

  // A20
  it.scoped("asks once more after a reply that only thought, and then fails", () =>
    Effect.gen(function* () {
      const { failure, store, prompts } = yield* harness([thinking("The file says 4."), thinking("The file says 4.")], {
        models: [{ name: "thinker", capabilities: ["completion", "tools", "thinking"] }]
      })
      const reason = yield* failure()
      assert.match(reason, /thinker.*no answer.*thinking only.*ollama\.think/)
      assert.notMatch(reason, /says 4/)
      assert.deepStrictEqual(store.usage, { input: 40, output: 10 })
      assert.match(prompts()[1]?.at(-1)?.content ?? "", /no answer and no tool call/)
    })
  )

  // A19
  it.scoped("says that the output limit was reached during thinking", () =>
    Effect.gen(function* () {
      const cut = thinking("Let me consider still considering", {
        doneReason: "length",
        promptTokens: 40,
        outputTokens: 512
      })
      const { failure, store } = yield* harness([cut, cut])
      assert.match(yield* failure(), /output limit was reached during thinking/)
      assert.deepStrictEqual(store.usage, { input: 80, output: 1024 })
    })
  )

  it.scoped("completes after an empty reply where the next one is an answer", () =>
    Effect.gen(function* () {
      const { answer } = yield* harness([text(""), text("4")])
      assert.strictEqual(yield* answer(), "4")
    })
  )

  it.scoped("never completes with a cut answer", () =>
    Effect.gen(function* () {
      const { failure } = yield* harness([
        text("The ans", { doneReason: "length" }),
        text("The an", { doneReason: "length" })
      ])
      assert.match(yield* failure(), /cut off at the output limit.*ollama\.num_ctx/)
    })
  )

  // A09
  it.scoped("sends a call after prose back with the reason and never answers with it", () =>
    Effect.gen(function* () {
      const { answer, calls, prompts } = yield* harness([
        text([
          "I will look.\n<tool_",
          'call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool',
          "_call>"
        ]),
        text(['<tool_call>{"name": "read_file",', ' "arguments": {"path": "a.txt"}}</tool_call>']),
        text("It says 4.")
      ])
      assert.strictEqual(yield* answer(), "It says 4.")
      assert.strictEqual(calls.length, 1)
      assert.match(prompts()[1]?.at(-1)?.content ?? "", /after other words, so it was not run/)
    })
  )

  // A17
  it.scoped("takes a last record without a reason as the end of the turn", () =>
    Effect.gen(function* () {
      const { answer } = yield* harness([text("hello", { doneReason: null, promptTokens: 3, outputTokens: 1 })])
      assert.strictEqual(yield* answer(), "hello")
    })
  )

  it.scoped("counts nothing where the server left its counts out", () =>
    Effect.gen(function* () {
      const { answer, store } = yield* harness([text("hello", { promptTokens: null, outputTokens: null })])
      yield* answer()
      assert.deepStrictEqual(store.usage, { input: 0, output: 0 })
    })
  )

  it.scoped("begins each prompt with the one before, byte for byte, over tasks, too", () =>
    Effect.gen(function* () {
      const { answer, prompts, store } = yield* harness([
        toolCall("read_file", { path: "a.txt" }),
        text(""),
        toolCalls([
          { name: "read_file", arguments: { path: "b.txt" } },
          { name: "nonsense", arguments: [1] }
        ]),
        text("one"),
        toolCall("shell", { command: "npm test" }),
        text("two")
      ])
      yield* answer("first")
      yield* answer("second")
      const written = prompts().map((messages) => JSON.stringify(messages).slice(0, -1))
      for (const [index, prompt] of written.entries()) {
        if (index > 0) assert.isTrue(prompt.startsWith(written[index - 1]!), `prompt ${index}`)
      }
      assert.strictEqual(store.reads, 2)
    })
  )

  it.scoped("ends the model's connection when it is interrupted", () =>
    Effect.gen(function* () {
      const { accept, run, server, store } = yield* harness([[hang]])
      const fiber = yield* Effect.fork(run(accept()))
      yield* Effect.promise(() => server.waiting(0))
      yield* Fiber.interrupt(fiber)
      assert.isFalse(yield* Effect.promise(() => server.closed(0)))
      assert.deepInclude(store.events.at(-1)?.detail, { error: "interrupted" })
    })
  )

  it.scoped("interrupts the running tool and leaves its call without a result", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const { accept, run, store } = yield* harness([toolCall("shell", { command: "sleep 99" })], {
        handler: () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
      })
      const task = accept()
      const fiber = yield* Effect.fork(run(task))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(
        store.messagesOf(task.id).map(({ _tag }) => _tag),
        ["user", "assistant"]
      )
      assert.deepInclude(store.events.at(-1)?.detail, { subject: "shell sleep 99", outcome: "interrupted" })
    })
  )

  it.scoped("sends the task's own temperature, else the one of the settings, else none", () =>
    Effect.gen(function* () {
      const { accept, run, server } = yield* harness([text("a"), text("b"), text("c")])
      const task = accept()
      const ollama = { ...task.settings.ollama, temperature: 0.5 }
      yield* run(task)
      yield* run({ ...accept(), settings: { ...task.settings, ollama } })
      yield* run({ ...accept(), settings: { ...task.settings, ollama }, temperature: 0 })
      assert.deepStrictEqual(
        server.requests.map(({ body }) => body.options.temperature),
        [undefined, 0.5, 0]
      )
    })
  )
})
