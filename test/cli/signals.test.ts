import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { Effect } from "effect"
import { hang } from "../support/ScriptedOllama.ts"
import { at, homeWith, sagyo, said, starting } from "./Cli.ts"

describe("a command that is asked to end", () => {
  it.scopedLive("a second Ctrl-C ends run at once, also where the first one cannot be stored", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang]])
      const working = yield* starting(at(home, "run", "work"))
      yield* Effect.promise(() => ollama.waiting(0))
      const other = new Database(join(home.dataDir, "sagyo.db"))
      other.exec("BEGIN IMMEDIATE")
      yield* Effect.addFinalizer(() => Effect.sync(() => other.close()))
      let gone = false
      void working.exit.then(() => {
        gone = true
      })
      // two that come together count as one
      yield* Effect.repeat(
        Effect.zipRight(
          Effect.sync(() => working.process.kill("SIGINT")),
          Effect.yieldNow()
        ),
        { until: () => gone }
      )
      assert.strictEqual((yield* working.finished).exit, 130)
      const row = other.prepare("SELECT status, cancel_requested FROM tasks").get()
      assert.deepStrictEqual(row, { status: "running", cancel_requested: 0 })
    })
  )

  it.scopedLive("run says that another process has the runner's place, and Ctrl-C withdraws its task at once", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([])
      yield* sagyo(at(home, "tasks"))
      // as a runner holds it, also one that is stopped
      const runner = new Database(join(home.dataDir, "runner.db"))
      runner.pragma("journal_mode = DELETE")
      runner.exec("BEGIN EXCLUSIVE")
      yield* Effect.addFinalizer(() => Effect.sync(() => runner.close()))
      const working = yield* starting(at(home, "run", "work"))
      yield* said(working, /waiting for its turn\. {2}another process runs the tasks {2}0:\d\d/)
      working.process.kill("SIGINT")
      const { exit, stdout, stderr } = yield* working.finished
      assert.deepStrictEqual([exit, stdout], [130, ""])
      assert.match(stderr, /\nThe task was cancelled\. {2}0\/1 {2}0:\d\d\n$/)
      assert.lengthOf(ollama.requests, 0)
    })
  )
})
