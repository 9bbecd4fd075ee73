import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Effect, FiberSet, Layer, type Scope } from "effect"
import { serveTools } from "../../src/mcp/Http.ts"
import { ScriptedOllama } from "../../src/ollama/ScriptedOllama.ts"
import { text } from "../../src/ollama/ScriptedReply.ts"
import { settingsLayer } from "../mcp/TestSettings.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { fixtureTools } from "./FixtureTools.ts"

/** Serves for the life of the scope, at the URL that it gives. */
export type Serve = Effect.Effect<string, never, Scope.Scope>

/** The built program with a scripted model. */
export const sagyo = (node: string, program: string): Serve =>
  Effect.gen(function* () {
    const model = yield* Effect.acquireRelease(
      Effect.promise(() => ScriptedOllama.start([], { otherwise: text("done") })),
      (server) => Effect.promise(() => server.stop())
    )
    const folder = yield* temporaryFolder("sagyo-conformance-")
    const workspace = yield* temporaryFolder("sagyo-conformance-workspace-")
    const config = join(folder, "agent.yaml")
    writeFileSync(
      config,
      `data_dir: ${join(folder, "data")}
ollama: { base_url: "${model.url}", model: scripted }
agent: { workspace: ${workspace}, planning: off }
mcp: { http: { auth: none } }
`
    )
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(node, [program, "serve", "--port", "0", "--config", config], { stdio: ["ignore", "ignore", "pipe"] })
      ),
      (child) =>
        Effect.promise(async () => {
          const ended = child.exitCode === null ? once(child, "exit") : undefined
          child.kill("SIGTERM")
          await ended
        })
    )
    return yield* Effect.promise(async () => {
      const said: Array<string> = []
      for await (const line of createInterface({ input: child.stderr })) {
        said.push(line)
        const url = /^listening on (\S+)/.exec(line)?.[1]
        if (url === undefined) continue
        child.stderr.resume()
        return url
      }
      throw new Error(`serve ended before it listened: ${said.join("\n")}`)
    })
  })

/** This project's HTTP and MCP layers with the suite's fixture tools. */
export const fixture: Serve = Effect.gen(function* () {
  const tools = fixtureTools(yield* TasksFake, yield* FiberSet.make<void>())
  return (yield* Effect.orDie(serveTools(tools))).url
}).pipe((serving) =>
  Effect.flatMap(Layer.build(Layer.merge(TasksFake.layer, settingsLayer({ http: { auth: "none" } }))), (context) =>
    Effect.provide(serving, context)
  )
)

/** A server that has nothing: whatever passes here tests nothing. */
export const empty: Serve = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer(async (request, response) => {
      const parts: Array<Buffer> = []
      for await (const part of request) parts.push(part as Buffer)
      const id = idOf(Buffer.concat(parts).toString("utf8"))
      response.writeHead(404, { "content-type": "application/json" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))

const idOf = (body: string): unknown => {
  try {
    return (JSON.parse(body) as { readonly id?: unknown }).id ?? null
  } catch {
    return null
  }
}

const temporaryFolder = (name: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), name))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
