import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import {
  createSessionPortFromClient,
  createTaskSessionFromClient,
  type RawClientDispatch,
  withTasks
} from "@modelcontextprotocol/ext-tasks/client"
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport as OldTransport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { cleanEnv, type Home, makeHome, program, startServe } from "./mcp/BuiltProgram.ts"
import { error, hang, scriptedOllama, text } from "./support/ScriptedOllama.ts"

/** A model that does what the request says. */
const obedient = () =>
  scriptedOllama([], {
    otherwise: ({ body }) => {
      const asked = body.messages.findLast((message) => message.role === "user")?.content ?? ""
      if (asked.includes("fail")) return error(400, "this model refuses")
      return asked.includes("hang") ? [hang] : text("All done.")
    }
  })

const info = { name: "matrix", version: "1" }

/** What the matrix asks of every client. */
interface Peer {
  readonly listTools: () => Promise<{ readonly tools: ReadonlyArray<{ readonly name: string }> }>
  readonly callTool: (request: {
    readonly name: string
    readonly arguments: Record<string, unknown>
  }) => Promise<unknown>
}

type Wire = "stdio" | "http"

const serverArgs = (home: Home) => [program, "stdio", "--config", home.config]

const authorization = (home: Home) => ({
  requestInit: {
    headers: { authorization: `Bearer ${readFileSync(join(home.dataDir, "token"), "utf8").trim()}` }
  }
})

const stdioParameters = (home: Home) => ({
  command: process.execPath,
  args: serverArgs(home),
  env: cleanEnv,
  stderr: "ignore" as const
})

/** Where the program is reached: for stdio the client starts it, for HTTP it runs already. */
const openWire = (wire: Wire, home: Home) =>
  wire === "stdio"
    ? Effect.succeed({
        now: (): Transport => new StdioClientTransport(stdioParameters(home)),
        old: (): OldTransport => new OldStdioTransport(stdioParameters(home))
      })
    : Effect.map(startServe(home.config), ({ url }) => ({
        now: (): Transport => new StreamableHTTPClientTransport(new URL(url), authorization(home)),
        old: (): OldTransport => new OldHttpTransport(new URL(url), authorization(home)) as OldTransport
      }))

const newClient = (mode: "auto" | "legacy" | { readonly pin: string }, transport: Transport) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client(info, { versionNegotiation: { mode } })
      await client.connect(transport)
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

const oldClient = (transport: OldTransport) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new OldClient(info)
      await client.connect(transport)
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

const textOf = (result: unknown): string => {
  const { content } = result as { readonly content: ReadonlyArray<{ readonly text: string }> }
  return content[0]?.text ?? ""
}

const field = (block: string, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? ""

const call = (peer: Peer, name: string, args: Record<string, unknown>) =>
  Effect.promise(() => peer.callTool({ name, arguments: args }))

/** Polls as a client does, until the task is over. */
const poll = (peer: Peer, taskId: string): Effect.Effect<string> =>
  Effect.flatMap(Effect.map(call(peer, "agent_status", { task_id: taskId }), textOf), (block) =>
    ["completed", "failed", "cancelled"].includes(field(block, "status"))
      ? Effect.succeed(block)
      : Effect.delay(poll(peer, taskId), "20 millis")
  )

/** Lists, runs, polls; completes, fails, is refused. */
const drive = (peer: Peer) =>
  Effect.gen(function* () {
    const { tools } = yield* Effect.promise(() => peer.listTools())
    assert.deepStrictEqual(
      tools.map((tool) => tool.name),
      ["agent_run", "agent_status"]
    )
    const accepted = textOf(yield* call(peer, "agent_run", { request: "complete this" }))
    assert.strictEqual(field(accepted, "status"), "queued")
    const done = yield* poll(peer, field(accepted, "task_id"))
    assert.strictEqual(field(done, "status"), "completed")
    assert.isTrue(done.endsWith("\nresult: All done."), done)
    const doomed = textOf(
      yield* call(peer, "agent_run", { request: "fail this", session_id: field(accepted, "session_id") })
    )
    assert.strictEqual(field(doomed, "session_id"), field(accepted, "session_id"))
    const failed = yield* poll(peer, field(doomed, "task_id"))
    assert.strictEqual(field(failed, "status"), "failed")
    const refused = (yield* call(peer, "agent_run", { request: " " })) as { readonly isError?: boolean }
    assert.isTrue(refused.isError)
  })

/** Sends what the SDK's client cannot, over its own transport. */
const rawDispatchOver = (transport: Transport): RawClientDispatch => {
  const waiting = new Map<unknown, (message: Record<string, unknown>) => void>()
  const next = transport.onmessage
  transport.onmessage = (message, extra) => {
    const take = "id" in message ? waiting.get(message.id) : undefined
    if (take === undefined) next?.(message, extra)
    else take(message as Record<string, unknown>)
  }
  let count = 0
  return (request) =>
    new Promise((resolve, reject) => {
      count += 1
      const id = `raw-${count}`
      waiting.set(id, (message) => {
        waiting.delete(id)
        resolve(
          (message.error === undefined
            ? { kind: "result", result: message.result }
            : { kind: "error", error: message.error }) as Awaited<ReturnType<RawClientDispatch>>
        )
      })
      transport.send({ jsonrpc: "2.0", ...(request as object), id } as never).catch(reject)
    })
}

const v2RequestFraming = {
  protocolVersion: "2026-07-28",
  clientInfo: info,
  clientCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } }
}

describe.each(["stdio", "http"] as const)("official clients over %s", (wire) => {
  it.scopedLive.each(["auto", "legacy", { pin: "2026-07-28" }] as const)("client 2.x, %o", (mode) =>
    Effect.gen(function* () {
      const home = makeHome((yield* obedient()).url)
      const client = yield* newClient(mode, (yield* openWire(wire, home)).now())
      assert.strictEqual(client.getProtocolEra(), mode === "legacy" ? "legacy" : "modern")
      yield* drive(client as Peer)
    })
  )

  it.scopedLive("client 1.x", () =>
    Effect.gen(function* () {
      const home = makeHome((yield* obedient()).url)
      yield* drive((yield* oldClient((yield* openWire(wire, home)).old())) as Peer)
    })
  )

  it.scopedLive("the Tasks client: completes, fails, is cancelled", () =>
    Effect.gen(function* () {
      const ollama = yield* obedient()
      const home = makeHome(ollama.url)
      const transport = (yield* openWire(wire, home)).now()
      const client = yield* newClient({ pin: "2026-07-28" }, transport)
      const session = createTaskSessionFromClient(client, {
        endpointId: "sagyo",
        rawDispatch: rawDispatchOver(transport),
        v2RequestFraming
      })
      yield* Effect.promise(async () => {
        const seen: Array<string> = []
        const good = await session.callTool("agent_run", { request: "complete this" })
        assert.strictEqual(good.kind, "task")
        const settled = await good.settle({
          onEvent: (event) => {
            if (event.type === "task") seen.push(event.task.status)
          }
        })
        assert.strictEqual(settled.outcome.status, "completed")
        assert.include(seen, "working")
        const result = settled.outcome.status === "completed" ? settled.outcome.result : undefined
        assert.match(textOf(result), /\nresult: All done\.$/)

        const bad = await (await session.callTool("agent_run", { request: "fail this" })).settle()
        assert.strictEqual(bad.outcome.status, "completed")
        assert.isTrue(bad.outcome.status === "completed" && bad.outcome.result.isError === true)

        const refused = await session.callTool("agent_run", { request: " " })
        assert.strictEqual(refused.kind, "immediate")

        const hanging = await session.callTool("agent_run", { request: "hang on this" })
        await ollama.waiting(2)
        await hanging.cancel()
        const cancelled = await hanging.settle()
        assert.strictEqual(cancelled.outcome.status, "cancelled")
        assert.isFalse(await ollama.closed(2))
        await session.close()
      })
    })
  )

  it.scopedLive("withTasks over a port of one's own", () =>
    Effect.gen(function* () {
      const home = makeHome((yield* obedient()).url)
      const transport = (yield* openWire(wire, home)).now()
      const client = yield* newClient("auto", transport)
      const port = createSessionPortFromClient(client, "sagyo", {
        rawDispatch: rawDispatchOver(transport),
        v2RequestFraming
      })
      yield* Effect.promise(async () => {
        const session = withTasks(port)
        const execution = await session.callTool("agent_run", { request: "complete this" })
        assert.strictEqual((await execution.settle()).outcome.status, "completed")
        await session.close()
      })
    })
  )
})
