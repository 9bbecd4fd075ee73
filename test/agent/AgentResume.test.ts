import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AssistantMessage, ToolMessage, UserMessage } from "../../src/domain/Message.ts"
import { ToolCall } from "../../src/domain/ToolCall.ts"
import { text, toolCall } from "../support/ScriptedOllama.ts"
import { harness } from "./harness.ts"

const call = (id: string, name: string, args: Readonly<Record<string, unknown>>) =>
  new ToolCall({ id, name, arguments: args })

const asked = (...toolCalls: ReadonlyArray<ToolCall>) => new AssistantMessage({ content: "", thinking: "", toolCalls })

const said = (content: string) => new AssistantMessage({ content, thinking: "", toolCalls: [] })

const result = (callId: string, toolName: string, content: string) =>
  new ToolMessage({ callId, toolName, outcome: "ok", content, changed: [] })

describe("AgentLoop, a task that was stopped before", () => {
  it.scoped("goes on from its last stored message and runs no call twice", () =>
    Effect.gen(function* () {
      const { accept, run, store, calls, prompts } = yield* harness([text("done")])
      const task = accept("fix it")
      store.append(task.id, asked(call("1.1", "shell", { command: "npm test" })), result("1.1", "shell", "1 failed"))
      assert.strictEqual(yield* run(task), "done")
      assert.deepStrictEqual(calls, [])
      assert.deepStrictEqual(
        prompts()[0]
          ?.slice(1)
          .map(({ role, content }) => [role, content]),
        [
          ["user", "fix it"],
          ["assistant", ""],
          ["tool", "1 failed"]
        ]
      )
    })
  )

  it.scoped("answers calls without a result as interrupted, and notes them", () =>
    Effect.gen(function* () {
      const { accept, run, store, calls, prompts } = yield* harness([text("done")])
      const task = accept()
      store.append(
        task.id,
        asked(call("1.1", "read_file", { path: "a" }), call("1.2", "shell", { command: "make" })),
        result("1.1", "read_file", "text of a")
      )
      yield* run(task)
      assert.deepStrictEqual(calls, [])
      assert.match(prompts()[0]?.at(-1)?.content ?? "", /^Interrupted.*Nobody knows how far it got/)
      const stored = store.messagesOf(task.id).filter((message) => message._tag === "tool")
      assert.deepStrictEqual(
        stored.map(({ callId, outcome }) => [callId, outcome]),
        [
          ["1.1", "ok"],
          ["1.2", "interrupted"]
        ]
      )
      assert.deepInclude(store.events[0]?.detail, { subject: "shell make", outcome: "interrupted" })
    })
  )

  it.scoped("gives the answer that it had already, without the model", () =>
    Effect.gen(function* () {
      const { accept, run, store, server } = yield* harness([])
      const task = accept()
      store.append(task.id, said("It was done."))
      assert.strictEqual(yield* run(task), "It was done.")
      assert.strictEqual(server.requests.length, 0)
    })
  )

  it.scoped("does not take a useless reply that it was about to send back for an answer", () =>
    Effect.gen(function* () {
      const { accept, run, store } = yield* harness([text("the answer")])
      const task = accept()
      store.append(task.id, said("The ans"), new UserMessage({ content: "Your last reply was cut off.", images: [] }))
      assert.strictEqual(yield* run(task), "the answer")
    })
  )

  it.scoped("counts turns and tokens from before the restart, and gives new calls new ids", () =>
    Effect.gen(function* () {
      const { accept, run, store } = yield* harness([toolCall("read_file", { path: "b" })], {
        settings: (defaults) => ({ ...defaults, agent: { ...defaults.agent, maxTurns: 3, maxTokens: 125 } })
      })
      const task = accept()
      store.append(task.id, asked(call("1.1", "read_file", { path: "a" })), result("1.1", "read_file", "a"))
      store.records.push({ usage: { input: 90, output: 10 } })
      const failure = yield* Effect.flip(run(task))
      assert.match(String(failure._tag === "AgentFailed" && failure.reason), /limit of 125 tokens/)
      const ids = store.messagesOf(task.id).flatMap((message) => (message._tag === "tool" ? [message.callId] : []))
      assert.deepStrictEqual(ids, ["1.1", "2.1"])
    })
  )
})

describe("AgentLoop, the other tasks of the session", () => {
  it.scoped("sees what was before it, and nothing of tasks that wait", () =>
    Effect.gen(function* () {
      const { accept, run, store, prompts } = yield* harness([text("one"), text("two")])
      const first = accept("first")
      const second = accept("second")
      assert.strictEqual(yield* run(first), "one")
      assert.strictEqual(yield* run(second), "two")
      assert.strictEqual(store.history.length, 4)
      assert.deepStrictEqual(
        prompts().map((messages) => messages.slice(1).map(({ content }) => content)),
        [["first"], ["first", "one", "second"]]
      )
    })
  )

  it.scoped("closes earlier tasks that came to no answer, and every call of theirs", () =>
    Effect.gen(function* () {
      const { accept, run, store, prompts } = yield* harness([text("ok")])
      const dead = accept("first")
      store.append(dead.id, asked(call("1.1", "shell", { command: "make" })))
      accept("withdrawn")
      yield* run(accept("third"))
      const told = prompts()[0]?.slice(1) ?? []
      assert.deepStrictEqual(
        told.map(({ role }) => role),
        ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]
      )
      assert.match(told[2]?.content ?? "", /^Interrupted/)
      assert.match(told[3]?.content ?? "", /ended before it had an answer/)
      assert.match(told[5]?.content ?? "", /ended before it had an answer/)
    })
  )
})
