import { once } from "node:events"
import { type AddressInfo, createServer, type LookupFunction } from "node:net"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Agent } from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { agentOptions, noAnswer } from "../../src/ollama/OllamaHttp.ts"
import { scriptedOllama } from "../support/ScriptedOllama.ts"

/** A resolver for which every name is this machine, the IPv6 address first. */
const bothFamilies: LookupFunction = (_name, _options, callback) =>
  callback(null, [
    { address: "::1", family: 6 },
    { address: "127.0.0.1", family: 4 }
  ])

const client = Layer.provide(
  NodeHttpClient.layerUndiciWithoutDispatcher,
  Layer.scoped(
    NodeHttpClient.Dispatcher,
    Effect.acquireRelease(
      Effect.sync(() => new Agent({ ...agentOptions, connect: { ...agentOptions.connect, lookup: bothFamilies } })),
      (agent) => Effect.promise(() => agent.destroy())
    )
  )
)

const get = (baseUrl: string) =>
  Effect.flatMap(HttpClient.HttpClient, (http) =>
    http.execute(HttpClientRequest.get(`${baseUrl}/api/version`)).pipe(Effect.catchAll(noAnswer(baseUrl)))
  ).pipe(Effect.provide(client))

describe("OllamaHttp", () => {
  // A29
  it.scoped("reaches a server on 127.0.0.1 where the name means ::1 first", () =>
    Effect.gen(function* () {
      const server = yield* scriptedOllama([])
      const response = yield* get(`http://some-name:${server.port}`)
      assert.strictEqual(response.status, 200)
    })
  )

  // A29
  it.scoped("gives the reason of each address where a name has several", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(async () => {
        const server = createServer().listen(0, "127.0.0.1")
        await once(server, "listening")
        const { port } = server.address() as AddressInfo
        server.close()
        await once(server, "close")
        return port
      })
      const found = yield* Effect.flip(get(`http://some-name:${port}`))
      assert.strictEqual(found._tag, "OllamaUnreachable")
      assert.match(found.message, new RegExp(`::1:${port}.*; connect ECONNREFUSED 127\\.0\\.0\\.1:${port}`))
    })
  )
})
