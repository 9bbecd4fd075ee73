import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { cleanEnv, program } from "../mcp/BuiltProgram.ts"
import { hang, text } from "../support/ScriptedOllama.ts"
import { at, homeWith } from "./Cli.ts"

// util-linux's; other systems' have other flags, and the line itself is tested without a terminal
const hasTerminal = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true

const HIDE_CURSOR = "\u001b[?25l"
const SHOW_CURSOR = "\u001b[?25h"

interface Terminal {
  readonly process: ChildProcessByStdio<Writable, Readable, null>
  /** Succeeds when the screen has been sent this. */
  readonly shows: (pattern: RegExp) => Effect.Effect<void>
  readonly finished: Effect.Effect<{ readonly exit: number; readonly screen: string }>
}

/** Runs a command on a terminal of this many columns, for the life of the scope. */
const onTerminal = (args: ReadonlyArray<string>, columns: number): Effect.Effect<Terminal, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const quoted = [process.execPath, program, ...args].map((arg) => `'${arg}'`).join(" ")
      const child = spawn("script", ["-qec", `stty cols ${columns}; exec ${quoted}`, "/dev/null"], {
        env: { ...cleanEnv, TERM: "xterm" },
        stdio: ["pipe", "pipe", "inherit"]
      })
      const exit = once(child, "close")
      let screen = ""
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        screen += chunk
      })
      return {
        process: child,
        shows: (pattern: RegExp) =>
          Effect.async<void>((resume) => {
            const look = () => {
              if (pattern.test(screen)) resume(Effect.void)
            }
            child.stdout.on("data", look)
            look()
          }),
        finished: Effect.promise(async () => ({ exit: (await exit)[0] as number, screen }))
      }
    }),
    (terminal) => Effect.sync(() => terminal.process.kill("SIGKILL"))
  )

/** Every state that a line of the screen was drawn in. */
const drawn = (screen: string) => screen.split(/[\r\n]/).map((line) => line.replace("\u001b[K", ""))

describe("sagyo run on a terminal", () => {
  it.scopedLive(
    "draws one line that fits and lives, gives the cursor back and leaves the last state and the result",
    () =>
      Effect.gen(function* () {
        if (!hasTerminal) return
        const { home, ollama } = yield* homeWith([
          async () => {
            await seen
            return text("All \u001b[31mred\u001b[0m.")
          }
        ])
        let see = () => {}
        const seen = new Promise<void>((resolve) => {
          see = resolve
        })
        const terminal = yield* onTerminal(at(home, "run", "work"), 50)
        yield* Effect.promise(() => ollama.received(0))
        // nothing changes, and yet the time goes on
        yield* terminal.shows(/ollama chat {2}0:01/)
        see()
        const { exit, screen } = yield* terminal.finished
        assert.strictEqual(exit, 0)
        const [last, result] = screen.split("\r\n").slice(-3)
        assert.match(last!, /The task has completed\. {2}1\/1 {2}25 tokens {2}0:\d\d$/)
        assert.strictEqual(result, `${SHOW_CURSOR}All \ufffd[31mred\ufffd[0m.`)
        const lines = drawn(screen).filter((line) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /.test(line))
        assert.isAbove(new Set(lines.map((line) => line[0])).size, 3)
        assert.isTrue(
          lines.every((line) => line.length < 50),
          lines.join("\n")
        )
        assert.lengthOf(screen.split(HIDE_CURSOR), 2)
        assert.lengthOf(screen.split(SHOW_CURSOR), 2)
      })
  )

  it.scopedLive("Ctrl-C shows that the task is being cancelled or was, and gives the cursor back", () =>
    Effect.gen(function* () {
      if (!hasTerminal) return
      const { home, ollama } = yield* homeWith([[hang]])
      const terminal = yield* onTerminal(at(home, "run", "work"), 80)
      yield* Effect.promise(() => ollama.waiting(0))
      terminal.process.stdin.write("\u0003")
      const { exit, screen } = yield* terminal.finished
      assert.strictEqual(exit, 130)
      const [last, rest] = screen.split("\r\n").slice(-2)
      assert.match(last!, /The task was cancelled\. {2}0\/1 {2}0:\d\d$/)
      assert.strictEqual(rest, SHOW_CURSOR)
    })
  )
})
