import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Either, Schema } from "effect"
import { OllamaClient } from "../../src/ollama/OllamaClient.ts"
import type { OllamaError } from "../../src/ollama/OllamaError.ts"
import { chat, chatRequest } from "../support/ScriptedChat.ts"
import {
  contextExceeded,
  error,
  html,
  json,
  type Reply,
  records,
  say,
  scriptedOllama
} from "../support/ScriptedOllama.ts"

/** The error of a chat whose only answer is `reply`: a second attempt would fail the test. */
const refusal = (reply: Reply) =>
  Effect.scoped(Effect.flatMap(scriptedOllama([reply]), (server) => Effect.flip(chat(server))))

const checked = (found: OllamaError, tag: OllamaError["_tag"], ...words: ReadonlyArray<string>) => {
  assert.strictEqual(found._tag, tag)
  for (const word of words) assert.include(found.message, word)
}

/** A port on which nothing listens any more. */
const freePort = Effect.promise(async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
})

layer(OllamaClient.layer)("a chat that fails at once", (it) => {
  it.scoped("names the model that the server does not have", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([])
      const found = yield* Effect.flip(chat(server, { model: "qwen3:8b" }))
      assert.deepInclude(found, { _tag: "OllamaModelMissing", model: "qwen3:8b" })
      checked(found, "OllamaModelMissing", "model 'qwen3:8b' not found")
      checked(yield* refusal(error(404, `model "x" not found, try pulling it first`)), "OllamaModelMissing")
      checked(yield* refusal(json(200, { error: "model 'x' not found" })), "OllamaModelMissing")
      checked(yield* refusal(html(404, "404 page not found")), "OllamaRefused", "404 page not found")
    })
  )

  // A25
  it.scoped("names the model and what it cannot do, and asks once", () =>
    Effect.gen(function* () {
      const tools = yield* refusal(error(400, "registry.ollama.ai/library/smollm2:360m does not support tools"))
      assert.deepInclude(tools, { _tag: "OllamaUnsupported", model: "scripted", capability: "tools" })
      checked(tools, "OllamaUnsupported", "smollm2:360m does not support tools")
      const think = yield* refusal(error(400, `"scripted" does not support thinking`))
      assert.deepInclude(think, { _tag: "OllamaUnsupported", capability: "thinking" })
      const level = yield* refusal(error(400, `think value "high" is not supported for this model`))
      assert.deepInclude(level, { _tag: "OllamaUnsupported", capability: "thinking" })
      const embedding = yield* refusal(error(400, `"scripted" does not support chat`))
      assert.deepInclude(embedding, { _tag: "OllamaUnsupported", capability: "chat" })
    })
  )

  // A37, A38
  it.scoped("tells a prompt that does not fit from every other refusal", () =>
    Effect.gen(function* () {
      checked(yield* refusal(contextExceeded()), "OllamaContextExceeded")
      const words = "request (4165 tokens) exceeds the available context size (4096 tokens), try increasing it"
      checked(yield* refusal(error(400, words)), "OllamaContextExceeded", words)
      checked(yield* refusal(json(400, { error: { code: 400, message: words } })), "OllamaContextExceeded", words)
      checked(yield* refusal(error(500, "no user query found in messages")), "OllamaContextExceeded")
      checked(yield* refusal([say("a"), ...records({ error: words })]), "OllamaContextExceeded", words)
    })
  )

  it.scoped("tells a call that the server's own parser could not read", () =>
    Effect.gen(function* () {
      for (const words of [
        "error parsing tool call: raw='{\"path', err=unexpected end of JSON input",
        "failed to parse JSON: invalid character 'c' looking for beginning of value",
        "failed to parse XML: EOF",
        "invalid character 'c' looking for beginning of value"
      ]) {
        checked(yield* refusal(error(500, words)), "OllamaBadToolCall", words)
        checked(yield* refusal([say("a"), ...records({ error: words })]), "OllamaBadToolCall", words)
      }
    })
  )

  it.scoped("gives other refusals as they are, nested or not", () =>
    Effect.gen(function* () {
      const found = yield* refusal(json(400, { error: { message: "invalid format", type: "x" } }))
      assert.deepInclude(found, { _tag: "OllamaRefused", status: 400, message: "invalid format" })
      checked(
        yield* refusal(error(500, "model requires more system memory (9 GiB) than is available (2 GiB)")),
        "OllamaRefused"
      )
      checked(
        yield* refusal(
          error(500, "llama runner process has terminated: error loading model: unknown model architecture")
        ),
        "OllamaRefused"
      )
      checked(yield* refusal(error(400, "invalid character 'x' after object key")), "OllamaRefused")
      checked(yield* refusal(json(403, ["odd"])), "OllamaRefused", `["odd"]`)
      checked(yield* refusal(json(302, {})), "OllamaRefused")
      checked(yield* refusal(html(200, "<!doctype html><title>Router login</title>")), "OllamaRefused", "Router login")
    })
  )

  it.scoped("shows no link for signing in, no control characters, and at most 2 KiB", () =>
    Effect.gen(function* () {
      const link = "https://ollama.com/connect?name=host&key=c2VjcmV0"
      const found = yield* refusal(json(401, { error: `unauthorized, see ${link}`, signin_url: link }))
      checked(found, "OllamaRefused", "unauthorized")
      assert.notInclude(JSON.stringify(found), "c2VjcmV0")
      const noisy = yield* refusal(error(400, `a\u001b[31m\r\nb\u0000c${"あ".repeat(5000)}`))
      assert.match(noisy.message, /^a \[31m b cあ+…$/)
      assert.isAtMost(Buffer.byteLength(noisy.message), 2048)
    })
  )

  // A29
  it.scoped("says where nothing listens, with the system's reason", () =>
    Effect.gen(function* () {
      const client = yield* OllamaClient
      const port = yield* freePort
      for (const host of ["127.0.0.1", "localhost"]) {
        const baseUrl = `http://${host}:${port}`
        const calls: ReadonlyArray<Effect.Effect<unknown, OllamaError>> = [
          client.chat(baseUrl, chatRequest),
          client.show(baseUrl, "m"),
          client.version(baseUrl)
        ]
        for (const call of calls) {
          const found = yield* Effect.flip(call)
          assert.deepInclude(found, { _tag: "OllamaUnreachable", baseUrl })
          checked(found, "OllamaUnreachable", baseUrl, `connect ECONNREFUSED 127.0.0.1:${port}`)
        }
      }
    })
  )

  // A29
  it.scoped("reaches a server on 127.0.0.1 by the name localhost", () =>
    Effect.gen(function* () {
      const client = yield* OllamaClient
      const server = yield* scriptedOllama([], { version: "1.2.3" })
      assert.strictEqual(yield* client.version(`http://localhost:${server.port}`), "1.2.3")
    })
  )

  it.scoped("says so where the address is none, or no HTTP server answers, and shows no password", () =>
    Effect.gen(function* () {
      const client = yield* OllamaClient
      const name = yield* Effect.flip(client.chat("http://me:secret@no-such-host.invalid:1", chatRequest))
      assert.deepInclude(name, { _tag: "OllamaUnreachable", baseUrl: "http://no-such-host.invalid:1" })
      const other = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((socket) => socket.end("220 mail ready\r\n")).listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close())
      )
      const found = yield* Effect.flip(
        client.chat(`http://127.0.0.1:${(other.address() as AddressInfo).port}`, chatRequest)
      )
      assert.strictEqual(found._tag, "OllamaUnreachable")
    })
  )

  it.effect("has errors that can be stored and read again", () =>
    Effect.gen(function* () {
      const { OllamaUnavailable } = yield* Effect.promise(() => import("../../src/ollama/OllamaError.ts"))
      const found = new OllamaUnavailable({ status: 503, message: "busy" })
      const stored = Schema.encodeSync(OllamaUnavailable)(found)
      assert.isTrue(Either.isRight(Schema.decodeUnknownEither(OllamaUnavailable)(stored)))
    })
  )
})
