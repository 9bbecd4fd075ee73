import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Locale } from "../src/domain/Settings.ts"
import { at, sagyo } from "./cli/Cli.ts"
import { type Home, makeHome, start } from "./mcp/BuiltProgram.ts"
import { call, legacy } from "./mcp/Messages.ts"
import { talkOver } from "./mcp/Talk.ts"
import { error, hang, scriptedOllama, text } from "./support/ScriptedOllama.ts"

/** A server on stdio, as its tools answer. */
const openServer = (home: Home) =>
  Effect.gen(function* () {
    const child = yield* start(["stdio", "--config", home.config])
    const talk = yield* talkOver(child.process.stdin, child.process.stdout)
    const tool = (name: string, args: Record<string, unknown>) =>
      Effect.map(talk.ask(legacy(name, "tools/call", call(name, args))), (reply) =>
        String(reply.result.content[0]?.text)
      )
    return {
      run: (args: Record<string, unknown>) => tool("agent_run", args),
      status: (args: Record<string, unknown>) => tool("agent_status", args)
    }
  })

const field = (block: string, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? ""

/** The text with ids that are the same in both. */
const anonymous = (block: string) => block.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").trimEnd()

describe.each(["ja", "en"] as const)("MCP and the commands over one store, in %s", (locale: Locale) => {
  it.scopedLive(
    "tell of the same task in the same words, whoever accepted it and whoever runs it",
    () =>
      Effect.gen(function* () {
        const ollama = yield* scriptedOllama([text("Done.\nAll of it."), error(400, "this model refuses"), [hang]])
        const home = makeHome(ollama.url, `locale: ${locale}`)
        const server = yield* openServer(home)
        const bothTell = (id: string, session?: string) =>
          Effect.gen(function* () {
            const asked = yield* server.status({ task_id: id, ...(session !== undefined && { session_id: session }) })
            const shown = yield* sagyo(at(home, "status", id, ...(session === undefined ? [] : ["--session", session])))
            assert.strictEqual(shown.stdout, `${asked}\n`)
            return asked
          })

        const detached = (yield* sagyo(at(home, "run", "--detach", "complete"))).stdout
        const accepted = yield* server.run({ request: "fail" })
        assert.strictEqual(anonymous(accepted), anonymous(detached))
        const [first, second] = [detached, accepted].map((block) => field(block, "task_id"))
        const third = field(yield* server.run({ request: "hang" }), "task_id")
        const fourth = field((yield* sagyo(at(home, "run", "--detach", "wait"))).stdout, "task_id")
        // it comes after the first two, so that these are over
        yield* Effect.promise(() => ollama.waiting(2))
        const completed = yield* bothTell(first!, field(detached, "session_id"))
        assert.match(completed, /\nstatus: completed\n[\s\S]*\nresult: Done\.\nAll of it\.$/)
        assert.match(yield* bothTell(second!), /\nstatus: failed\n[\s\S]*this model refuses/)
        assert.match(yield* bothTell(third), /\nstatus: running\n/)
        assert.match(yield* bothTell(fourth), /\nstatus: queued\n/)
        for (const id of [fourth, third]) {
          const cancelled = yield* sagyo(at(home, "cancel", id))
          assert.strictEqual(cancelled.stdout, `${yield* bothTell(id)}\n`)
          assert.match(cancelled.stdout, /\nstatus: cancelled\n/)
        }
        assert.match(yield* bothTell(third, field(accepted, "session_id")), /^task_id: \S+\nstatus: failed\nmessage: /)
        yield* bothTell("00000000-0000-0000-0000-00000000000A")
      }),
    120_000
  )

  it.scopedLive("refuse the same requests in the same sentences", () =>
    Effect.gen(function* () {
      const home = makeHome("http://127.0.0.1:1", `locale: ${locale}`)
      const server = yield* openServer(home)
      const unknown = "00000000-0000-0000-0000-000000000000"
      const refusals = [
        [{ request: " " }, ["run", " "]],
        [{ request: "x", temperature: 2.5 }, ["run", "x", "--temperature", "2.5"]],
        [{ request: "x", session_id: unknown }, ["run", "x", "--session", unknown]],
        [{ request: "", session_id: "1", temperature: -1 }, ["run", "", "--session", "1", "--temperature", "-1"]]
      ] as const
      for (const [args, line] of refusals) {
        const { exit, stderr } = yield* sagyo(at(home, ...line))
        assert.strictEqual(exit, 2)
        assert.strictEqual(stderr, `sagyo: ${yield* server.run(args)}\n`)
      }
    })
  )
})
