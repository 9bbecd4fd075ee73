import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { Effect } from "effect"
import { at, homeWith, sagyo, starting, uuid } from "../cli/Cli.ts"
import { type Home, start, startServe } from "../mcp/BuiltProgram.ts"
import { modern } from "../mcp/Messages.ts"
import { hang, text, toolCall } from "../support/ScriptedOllama.ts"

const unsandboxed = "tools: { shell: { sandbox: off } }"

const detached = (home: Home, request: string) =>
  Effect.map(sagyo(at(home, "run", "--detach", request)), ({ stdout }) => uuid.exec(stdout)![0])
const statusOf = (home: Home, id: string) => Effect.map(sagyo(at(home, "status", id)), ({ stdout }) => stdout)
const ended = (home: Home, id: string) =>
  Effect.repeat(statusOf(home, id), { until: (said) => /\nstatus: (completed|failed|cancelled)\n/.test(said) })

/** A column of the only task. */
const stored = (home: Home, column: string) => {
  const db = new Database(join(home.dataDir, "sagyo.db"), { readonly: true })
  const row = db.prepare(`SELECT ${column} AS value FROM tasks`).get() as { readonly value: unknown }
  db.close()
  return row.value
}

/** A corpse that its parent has not collected is not alive. */
const isAlive = (pid: string) =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))

describe("processes that share a data folder", () => {
  it.scopedLive(
    "where the runner is killed in a command, the next one ends what it left and does not run it again",
    () =>
      Effect.gen(function* () {
        const command = `trap '' TERM; (setsid sh -c 'echo $$ >> pids; exec sleep 1000' &); echo $$ >> pids; while :; do sleep 0.05; done`
        const { home, ollama } = yield* homeWith(
          [toolCall("shell", { command }), text("It was interrupted.")],
          unsandboxed
        )
        const first = yield* startServe(home.config)
        yield* startServe(home.config)
        const id = yield* detached(home, "work")
        const pids = join(home.workspace, "pids")
        const started = () => (existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n") : [])
        yield* Effect.repeat(Effect.yieldNow(), {
          until: () => started().length === 2 && stored(home, "current_task") !== ""
        })
        first.process.kill("SIGKILL")
        const chat = yield* Effect.promise(() => ollama.received(1))
        assert.deepStrictEqual(started().filter(isAlive), [])
        const last = chat.body.messages.at(-1)!
        assert.strictEqual(last.role, "tool")
        assert.match(last.content, /interrupted/i)
        assert.match(yield* ended(home, id), /\nstatus: completed\n.*\nresult: It was interrupted\.\n$/s)
        assert.lengthOf(started(), 2)
        assert.strictEqual(stored(home, "unclean_ends"), 1)
      })
  )

  it.scopedLive("where the runner ends in order, another goes on with its task and the queue, in order", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang], text("First."), text("Second.")])
      const first = yield* startServe(home.config)
      yield* startServe(home.config)
      const a = yield* detached(home, "first")
      const b = yield* detached(home, "second")
      yield* Effect.promise(() => ollama.waiting(0))
      first.process.kill("SIGTERM")
      assert.strictEqual(yield* Effect.promise(() => first.exit), 0)
      assert.match(yield* ended(home, b), /\nresult: Second\.\n$/)
      assert.match(yield* statusOf(home, a), /\nresult: First\.\n$/)
    })
  )

  it.scopedLive("while the runner is stopped the others accept and answer, and the queue waits", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang], text("Second.")])
      const runner = yield* startServe(home.config)
      yield* startServe(home.config)
      const a = yield* detached(home, "first")
      yield* Effect.promise(() => ollama.waiting(0))
      runner.process.kill("SIGSTOP")
      const b = yield* detached(home, "second")
      const cancelling = yield* starting(at(home, "cancel", a))
      yield* Effect.repeat(statusOf(home, a), { until: (said) => said.includes("being cancelled") })
      assert.match(yield* statusOf(home, b), /\nstatus: queued\n/)
      assert.lengthOf(ollama.requests, 1)
      runner.process.kill("SIGCONT")
      assert.strictEqual((yield* cancelling.finished).exit, 0)
      assert.match(yield* ended(home, b), /\nresult: Second\.\n$/)
    })
  )

  it.scopedLive("a cancel that was asked of a runner that dies is finished by who asked", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang]])
      const runner = yield* startServe(home.config)
      const id = yield* detached(home, "work")
      yield* Effect.promise(() => ollama.waiting(0))
      runner.process.kill("SIGSTOP")
      const cancelling = yield* starting(at(home, "cancel", id))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => stored(home, "cancel_requested") === 1 })
      runner.process.kill("SIGKILL")
      assert.strictEqual((yield* cancelling.finished).exit, 0)
      assert.match(yield* statusOf(home, id), /\nstatus: cancelled\n/)
      assert.lengthOf(ollama.requests, 1)
    })
  )

  it.scopedLive("a task that takes the program down three times fails", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang], [hang], [hang]])
      const id = yield* detached(home, "work")
      for (const at of [0, 1, 2]) {
        const runner = yield* startServe(home.config)
        yield* Effect.promise(() => ollama.waiting(at))
        runner.process.kill("SIGKILL")
        yield* Effect.promise(() => runner.exit)
      }
      yield* startServe(home.config)
      assert.match(yield* ended(home, id), /\nstatus: failed\n.*\nresult: The server died 3 times/s)
    })
  )

  it.scopedLive("a host that closes stdin leaves the running task in the queue", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang]])
      const id = yield* detached(home, "work")
      const server = yield* start(at(home, "stdio"))
      const look = modern(1, "tools/call", { name: "agent_status", arguments: { task_id: id } })
      server.process.stdin.write(`${JSON.stringify(look)}\n`)
      yield* Effect.promise(() => ollama.waiting(0))
      server.process.stdin.end()
      assert.strictEqual(yield* Effect.promise(() => server.exit), 0)
      assert.isFalse(yield* Effect.promise(() => ollama.closed(0)))
      assert.match(yield* statusOf(home, id), /\nstatus: queued\n/)
      assert.strictEqual(stored(home, "unclean_ends"), 0)
    })
  )
})
