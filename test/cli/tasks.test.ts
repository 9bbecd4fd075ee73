import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { start } from "../mcp/BuiltProgram.ts"
import { hang, text } from "../support/ScriptedOllama.ts"
import { at, homeWith, sagyo, starting, uuid } from "./Cli.ts"

const unknown = "00000000-0000-0000-0000-00000000000A"

const idOf = (output: string) => uuid.exec(output)![0]

describe("sagyo status", () => {
  it.scopedLive("tells of a task in the contract's text, or as JSON", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      const accepted = (yield* sagyo(at(home, "run", "--detach", "--json", "work"))).stdout
      const { task_id, session_id } = JSON.parse(accepted) as Record<string, string>
      const shown = yield* sagyo(at(home, "status", task_id!.toUpperCase(), "--session", session_id!.toUpperCase()))
      assert.deepStrictEqual([shown.exit, shown.stderr], [0, ""])
      assert.strictEqual(
        shown.stdout,
        `task_id: ${task_id}
session_id: ${session_id}
status: queued
completed_tasks: 0/1
current_task:
token_usage: input=0 output=0 total=0
critical_path_tokens: 0
message: The task is waiting for its turn.
result:
`
      )
      assert.strictEqual((yield* sagyo(at(home, "status", "--json", task_id!))).stdout, accepted)
    })
  )

  it.scopedLive("exits 1 where there is no such task, or it belongs to another session", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      const id = idOf((yield* sagyo(at(home, "run", "--detach", "work"))).stdout)
      const text = (of: string) => `task_id: ${of}\nstatus: failed\nmessage: Task ${of} was not found.\n`
      const missing = yield* sagyo(at(home, "status", unknown))
      assert.deepStrictEqual(missing, { exit: 1, stdout: text(unknown.toLowerCase()), stderr: "" })
      const foreign = yield* sagyo(at(home, "status", id, "--session", unknown))
      assert.deepStrictEqual(foreign, { exit: 1, stdout: text(id), stderr: "" })
      const json = yield* sagyo(at(home, "status", "x", "--json"))
      assert.deepStrictEqual(json, {
        exit: 1,
        stdout: '{"task_id":"x","status":"failed","message":"Task x was not found."}\n',
        stderr: ""
      })
    })
  )
})

describe("sagyo tasks", () => {
  it.scopedLive("lists the newest first, and only what was asked for", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([text("Done.")])
      const done = JSON.parse((yield* sagyo(at(home, "run", "--json", "work"))).stdout) as Record<string, string>
      const waiting = idOf((yield* sagyo(at(home, "run", "--detach", "later"))).stdout)
      const list = (...flags: ReadonlyArray<string>) =>
        Effect.map(sagyo(at(home, "tasks", ...flags)), ({ stdout }) => stdout)
      const lines = (yield* list()).trimEnd().split("\n")
      assert.lengthOf(lines, 2)
      assert.match(lines[0]!, new RegExp(`^${waiting}  queued     \\S+Z  The task is waiting for its turn\\.$`))
      assert.match(lines[1]!, new RegExp(`^${done.task_id}  completed  \\S+Z  The task has completed\\.$`))
      assert.strictEqual(idOf(yield* list("--limit", "1")), waiting)
      assert.strictEqual((yield* list("--state", "completed")).trimEnd(), lines[1])
      assert.strictEqual((yield* list("--session", done.session_id!)).trimEnd(), lines[1])
      assert.strictEqual(yield* list("--json", "--state", "completed"), `${JSON.stringify(done)}\n`)
      assert.strictEqual(yield* list("--json", "--session", unknown), "")
    })
  )

  it.scopedLive("says what it takes", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      const state = yield* sagyo(at(home, "tasks", "--state", "done"))
      assert.deepStrictEqual([state.exit, state.stdout], [2, ""])
      assert.match(state.stderr, /--state takes one of queued, planning, .*, not "done"\n$/)
      const session = yield* sagyo(at(home, "tasks", "--session", "x"))
      assert.deepStrictEqual(
        [session.exit, session.stderr],
        [2, 'sagyo: --session takes the UUID of a session, not "x"\n']
      )
      const none = yield* sagyo(at(home, "tasks"))
      assert.deepStrictEqual(none, { exit: 0, stdout: "", stderr: "There are no such tasks.\n" })
    })
  )

  it.scopedLive("a reader that goes away early is no error", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      yield* sagyo(at(home, "run", "--detach", "work"))
      const child = yield* start(at(home, "tasks"))
      child.process.stdout.destroy()
      assert.strictEqual(yield* Effect.promise(() => child.exit), 0)
      assert.strictEqual(child.stderr(), "")
    })
  )
})

describe("sagyo cancel", () => {
  it.scopedLive("withdraws a queued task at once", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([])
      const id = idOf((yield* sagyo(at(home, "run", "--detach", "work"))).stdout)
      const cancelled = yield* sagyo(at(home, "cancel", id.toUpperCase()))
      assert.deepStrictEqual([cancelled.exit, cancelled.stderr], [0, ""])
      assert.match(cancelled.stdout, /\nstatus: cancelled\n[\s\S]*\nmessage: The task was cancelled\.\nresult:\n$/)
      assert.lengthOf(ollama.requests, 0)
      const again = yield* sagyo(at(home, "cancel", id))
      assert.deepStrictEqual(again, { exit: 1, stdout: cancelled.stdout, stderr: `Task ${id} was over already.\n` })
    })
  )

  it.scopedLive("ends what another process runs, and waits until it is over", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang]])
      const working = yield* starting(at(home, "run", "work"))
      yield* Effect.promise(() => ollama.waiting(0))
      const id = idOf(working.stderr())
      const cancelled = yield* sagyo(at(home, "cancel", id, "--json"))
      assert.strictEqual(cancelled.exit, 0)
      assert.strictEqual((JSON.parse(cancelled.stdout) as { status: string }).status, "cancelled")
      assert.isFalse(yield* Effect.promise(() => ollama.closed(0)))
      assert.deepStrictEqual(yield* working.finished.pipe(Effect.map(({ exit, stdout }) => [exit, stdout])), [130, ""])
    })
  )

  it.scopedLive("finishes the cancel of a task whose process was killed, and runs no other", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang]])
      const working = yield* starting(at(home, "run", "work"))
      yield* Effect.promise(() => ollama.waiting(0))
      const id = idOf(working.stderr())
      yield* sagyo(at(home, "run", "--detach", "another"))
      working.process.kill("SIGKILL")
      yield* working.finished
      const cancelled = yield* sagyo(at(home, "cancel", id))
      assert.strictEqual(cancelled.exit, 0)
      assert.match(cancelled.stdout, /\nstatus: cancelled\n/)
      assert.lengthOf(ollama.requests, 1)
    })
  )

  it.scopedLive("exits 1 where there is no such task", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      const missing = yield* sagyo(at(home, "cancel", unknown))
      assert.strictEqual(missing.exit, 1)
      assert.match(missing.stdout, /\nmessage: Task \S+a was not found\.\n$/)
    })
  )
})

describe("every command", () => {
  it.scopedLive.each([
    ["run", "x"],
    ["status", unknown],
    ["cancel", unknown],
    ["tasks"],
    ["serve"],
    ["stdio"],
    ["demo"]
  ])("%s exits 2 with settings that cannot be used, and with a settings file that is not there", (args) =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      const gone = yield* sagyo([...args, "--config", `${home.config}.gone`])
      assert.deepStrictEqual([gone.exit, gone.stdout], [2, ""])
      assert.match(gone.stderr, /^sagyo: .*agent\.yaml\.gone/)
      writeFileSync(home.config, "ollama:\n  modle: x\n")
      const wrong = yield* sagyo(at(home, ...args))
      assert.deepStrictEqual([wrong.exit, wrong.stdout], [2, ""])
      assert.match(wrong.stderr, /agent\.yaml:2:3: ollama\.modle: .*model/)
    })
  )

  it.scopedLive.each([["run", "x"], ["status", unknown], ["cancel", unknown], ["tasks"]])(
    "%s exits 2 where the data folder cannot be used",
    (args) =>
      Effect.gen(function* () {
        const { home } = yield* homeWith([])
        const failed = yield* sagyo(at(home, ...args), "", { SAGYO_DATA_DIR: `${home.config}/data` })
        assert.deepStrictEqual([failed.exit, failed.stdout], [2, ""])
        assert.match(failed.stderr, /^sagyo: .*data/)
      })
  )

  it.scopedLive("help that nobody reads to its end is no error", () =>
    Effect.gen(function* () {
      const child = yield* start(["--help"])
      child.process.stdout.destroy()
      yield* Effect.promise(() => once(child.process, "close"))
      assert.strictEqual(yield* Effect.promise(() => child.exit), 0)
      assert.strictEqual(child.stderr(), "")
    })
  )
})
