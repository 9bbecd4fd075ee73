import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Ref } from "effect"
import { OllamaClient } from "../../../src/ollama/OllamaClient.ts"
import { ask, door, readFileTool, realModel, realUrl } from "./RealOllama.ts"

layer(OllamaClient.layer, { excludeTestServices: true, timeout: "5 minutes" })(
  "OllamaClient on a real server",
  (it) => {
    it.scoped("lists the model, and tells what it can and what it was trained for", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        assert.isNotEmpty(yield* client.version(realUrl))
        const names = (yield* client.tags(realUrl)).map((model) => model.name.replace(/:latest$/, ""))
        assert.include(names, realModel.replace(/:latest$/, ""))
        const shown = yield* client.show(realUrl, realModel)
        assert.include(shown.capabilities, "tools")
        assert.isAbove(shown.contextLength ?? 0, 1024)
        assert.isNull(shown.remoteHost)
      })
    )

    it.scoped("streams an answer, with its counts", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const said = yield* Ref.make("")
        const reply = yield* client.chat(realUrl, ask("Say hello."), (delta) =>
          Ref.update(said, (before) => before + delta.content)
        )
        assert.isNotEmpty(reply.content)
        assert.strictEqual(yield* Ref.get(said), reply.content)
        assert.isAbove(reply.promptTokens ?? 0, 0)
        assert.isAbove(reply.outputTokens ?? 0, 0)
        assert.isNotNull(reply.promptMillis)
        assert.strictEqual(reply.doneReason, "stop")
      })
    )

    it.scoped("asks for a tool, and answers from what it returned", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const first = ask("Read the file secret.txt", { tools: [readFileTool] })
        const reply = yield* client.chat(realUrl, first)
        assert.deepStrictEqual(reply.toolCalls, [{ name: "read_file", arguments: { path: "secret.txt" } }])
        const tool_calls = [{ function: { name: "read_file", arguments: { path: "secret.txt" } } }]
        const answer = yield* client.chat(realUrl, {
          ...first,
          messages: [
            ...first.messages,
            { role: "assistant", content: reply.content, tool_calls },
            { role: "tool", content: "the cat is grey", tool_name: "read_file" }
          ]
        })
        assert.include(answer.content, "the cat is grey")
      })
    )

    it.scoped("keeps an answer to a format", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const format = { type: "object", properties: { steps: { type: "integer" } }, required: ["steps"] }
        const reply = yield* client.chat(realUrl, ask("How many steps?", { format }))
        assert.isNumber((JSON.parse(reply.content) as { readonly steps: unknown }).steps)
      })
    )

    it.scoped("gives the context that was asked for, and never more than the model was trained for", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const { contextLength } = yield* client.show(realUrl, realModel)
        const given = (num_ctx: number) =>
          Effect.gen(function* () {
            yield* client.chat(realUrl, ask("Say hello.", { options: { num_ctx } }))
            const running = yield* client.ps(realUrl)
            return running.find((model) => model.name.startsWith(realModel))?.contextLength
          })
        assert.strictEqual(yield* given(1024), 1024)
        assert.strictEqual(yield* given((contextLength ?? 0) * 2), contextLength)
      })
    )

    it.scoped("tells that a prompt does not fit, instead of cutting it", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const found = yield* Effect.flip(client.chat(realUrl, ask("word ".repeat(5000))))
        assert.deepInclude(found, {
          _tag: "OllamaContextExceeded",
          message: "the input length exceeds the context length"
        })
      })
    )

    it.scoped("names the model that is missing, and the tools that a model has not", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const missing = yield* Effect.flip(client.chat(realUrl, ask("hi", { model: "no-such-model" })))
        assert.deepInclude(missing, { _tag: "OllamaModelMissing", message: "model 'no-such-model' not found" })
        const thinking = yield* Effect.flip(client.chat(realUrl, ask("hi", { think: true })))
        assert.deepInclude(thinking, { _tag: "OllamaUnsupported", capability: "thinking" })
        for (const { name } of yield* client.tags(realUrl)) {
          const { capabilities } = yield* client.show(realUrl, name)
          if (capabilities.includes("tools") || !capabilities.includes("completion")) continue
          const found = yield* Effect.flip(client.chat(realUrl, ask("hi", { model: name, tools: [readFileTool] })))
          assert.deepInclude(found, { _tag: "OllamaUnsupported", capability: "tools", model: name })
          return
        }
        assert.fail("this server has no model without tools")
      })
    )

    it.scoped("is left at once by a call that is interrupted before headers, and is free for the next", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const { contextLength } = yield* client.show(realUrl, realModel)
        const options = { num_ctx: contextLength ?? 0, temperature: 0 }
        yield* client.chat(realUrl, ask("Say hello.", { options })) // loads the model with this context
        const { url, passed, left } = yield* door
        const long = ask(`${"word ".repeat((contextLength ?? 0) - 1000)} Say hello.`, { options })
        const asking = yield* Effect.fork(client.chat(url, long))
        yield* Effect.promise(() => passed)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(asking)))
        yield* Effect.promise(() => left)
        const told = yield* Deferred.make<void>() // the first word is enough: a tiny model may go on for minutes
        const next = client.chat(realUrl, ask("Say hello.", { options }), () => Deferred.succeed(told, undefined))
        yield* Effect.raceFirst(next, Deferred.await(told))
      })
    )

    it.scoped("is left at once by a call that is interrupted in mid-stream", () =>
      Effect.gen(function* () {
        const client = yield* OllamaClient
        const { url, left } = yield* door
        const told = yield* Deferred.make<void>()
        const asking = yield* Effect.fork(
          client.chat(url, ask("Tell me a long story."), () => Deferred.succeed(told, undefined))
        )
        yield* Deferred.await(told)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(asking)))
        yield* Effect.promise(() => left)
      })
    )
  }
)
