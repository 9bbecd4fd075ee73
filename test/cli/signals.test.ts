import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { Effect } from "effect"
import { hang } from "../support/ScriptedOllama.ts"
import { at, homeWith, starting } from "./Cli.ts"

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
})
