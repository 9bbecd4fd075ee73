import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import type { StartedGroup } from "../../src/domain/StartedGroup.ts"
import { Approver } from "../../src/tools/Approval.ts"
import { ProcessLedger } from "../../src/tools/ProcessLedger.ts"
import { Sandbox } from "../../src/tools/Sandbox.ts"
import { ToolBox } from "../../src/tools/ToolBox.ts"
import { isRunning, layer, temporaryFolder, toolsOn, until } from "./ToolKit.ts"

/** Ids that a command wrote down, once it has written them all. */
const pidsIn = (file: string, count: number) =>
  until(() => existsSync(file) && readFileSync(file, "utf8").trim().split(/\s+/).length >= count).pipe(
    Effect.map(() => readFileSync(file, "utf8").trim().split(/\s+/).map(Number))
  )

describe("shell", () => {
  it.scopedLive("gives exit code, time and both streams in the order in which they were written", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("shell", { command: "echo 1; echo 2 >&2; echo 3; pwd; exit 7" })
      assert.strictEqual(result.outcome, "ok")
      assert.match(result.text, new RegExp(`^Exit code 7 after \\d+\\.\\d s\\.\n1\n2\n3\n${ws}$`))
      assert.deepStrictEqual(result.changed, ["echo 1; echo 2 >&2; echo 3; pwd; exit 7"])
      const bash = yield* tools.call("shell", { command: "[[ a == a ]] && diff <(echo x) <(echo x) && echo same" })
      assert.include(bash.text, "same")
    }).pipe(Effect.provide(layer))
  )

  // D15
  it.scopedLive("never answers with nothing", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      for (const [command, code] of [
        ["false", 1],
        ["true", 0],
        ["exit 1 >/dev/null", 1],
        ["printf '\\n \\033[0m'", 0]
      ] as const) {
        const { text } = yield* tools.call("shell", { command })
        assert.match(text, new RegExp(`^Exit code ${code} after .*\n\\(no output\\)$`), command)
      }
      const killed = yield* tools.call("shell", { command: "kill -SEGV $$" })
      assert.match(killed.text, /^Killed by SIGSEGV after /)
      assert.strictEqual(killed.outcome, "error")
      assert.include((yield* tools.call("shell", { command: "no-such-program" })).text, "Exit code 127")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("refuses a command that is none or too long", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      for (const command of ["", " \n", "echo a\0b", `: ${"x".repeat(200_000)}`]) {
        assert.strictEqual((yield* tools.call("shell", { command })).outcome, "error")
      }
    }).pipe(Effect.provide(layer))
  )

  // D04
  it.scopedLive("has an empty stdin", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      assert.include((yield* tools.call("shell", { command: "cat" })).text, "(no output)")
      assert.include((yield* tools.call("shell", { command: "read x; echo got:$x" })).text, "got:")
      assert.include((yield* tools.call("shell", { command: "python3 -c 'input()'" })).text, "EOFError")
    }).pipe(Effect.provide(layer))
  )

  // D06
  it.scopedLive("has no terminal and no editor: git ends at once and changes nothing", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: ws, encoding: "utf8" })
      git("init", "-q")
      git("config", "user.email", "a@example.org")
      git("config", "user.name", "a")
      git("commit", "-q", "--allow-empty", "-m", "one")
      git("commit", "-q", "--allow-empty", "-m", "two")
      const head = git("rev-parse", "HEAD")
      const tools = yield* toolsOn(ws)
      for (const command of [
        "git commit --allow-empty",
        "git rebase -i HEAD~1",
        "git commit --amend",
        "echo > /dev/tty"
      ]) {
        const { text } = yield* tools.call("shell", { command, timeout: 5 })
        assert.match(text, /^Exit code [1-9]/, command)
      }
      assert.strictEqual(git("rev-parse", "HEAD"), head)
      assert.include((yield* tools.call("shell", { command: "git log --oneline | wc -l" })).text, "\n2")
      assert.include((yield* tools.call("shell", { command: "git log" })).text, "two")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("runs in a session and a process group of its own", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      const { text } = yield* tools.call("shell", { command: "echo $$ $(cut -d' ' -f5,6 /proc/self/stat)" })
      assert.match(text, /\n(\d+) \1 \1$/)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("sees only the variables that it may", () =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => Object.assign(process.env, { SAGYO_TEST_SECRET: "s3cret", SAGYO_TEST_NAMED: "named" })),
        () =>
          Effect.sync(() => {
            delete process.env.SAGYO_TEST_SECRET
            delete process.env.SAGYO_TEST_NAMED
          })
      )
      const tools = yield* toolsOn(yield* temporaryFolder, {}, { env: ["SAGYO_TEST_NAMED", "SAGYO_TEST_ABSENT"] })
      const { text } = yield* tools.call("shell", { command: "env" })
      assert.notInclude(text, "s3cret")
      for (const line of [
        "SAGYO_TEST_NAMED=named",
        "TERM=dumb",
        "PAGER=cat",
        "GIT_EDITOR=false",
        "GIT_TERMINAL_PROMPT=0",
        "CI=1"
      ]) {
        assert.include(text, line)
      }
      assert.notInclude(text, "SAGYO_TEST_ABSENT")
      const names = text
        .split("\n")
        .slice(1)
        .map((line) => line.split("=")[0]!)
      const known =
        /^(PATH|HOME|LANG|LC_.*|TZ|TERM|PAGER|GIT_.*|EDITOR|VISUAL|CI|SAGYO_TEST_NAMED|SAGYO_CALL|PWD|SHLVL|_|OLDPWD)$/
      assert.deepStrictEqual(
        names.filter((name) => !known.test(name)),
        []
      )
    }).pipe(Effect.provide(layer))
  )

  // D09
  it.scopedLive("drains gigabytes of output in constant memory while others are served", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      const before = process.memoryUsage().rss
      let [peak, beats] = [0, 0]
      const beat = Effect.sync(() => {
        beats++
        peak = Math.max(peak, process.memoryUsage().rss)
      })
      const watching = yield* Effect.fork(Effect.forever(Effect.delay(beat, "20 millis")))
      const { text } = yield* tools.call("shell", { command: "echo first; yes | head -c 1G; echo last; exit 3" })
      yield* Fiber.interrupt(watching)
      assert.match(text, /^Exit code 3 after/)
      assert.match(text, /\nfirst\ny\n[\s\S]*about 10737\d+ bytes left out[\s\S]*\nlast$/)
      assert.isBelow(text.length, 16_000)
      assert.isBelow(peak - before, 100 * 1024 * 1024)
      assert.isAbove(beats, 1)
    }).pipe(Effect.provide(layer))
  )

  // D12
  it.scopedLive("gives plain text", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      const command =
        "for i in $(seq 1 2000); do printf '\\r\\033[32m%d%%\\033[0m' $i; done; printf '\\033]0;owned\\007\\033[2J end'; printf '\\n\\xff\\xfe\\000'"
      const { text } = yield* tools.call("shell", { command })
      assert.match(text, /^Exit code 0 .*\n2000% end\n\ufffd\ufffd$/)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("ends with the command, whoever still holds its pipes", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const command = "sleep 987 & echo $! > pid; (trap '' TERM; sleep 986) & echo $! >> pid; echo started"
      const { text } = yield* tools.call("shell", { command })
      assert.match(text, /^Exit code 0 after [0-4]\.\d s\.\nstarted/)
      for (const pid of yield* pidsIn(`${ws}/pid`, 2)) assert.isFalse(isRunning(pid))
    }).pipe(Effect.provide(layer))
  )

  // D02
  it.scopedLive("ends processes that went into a session of their own too", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const command =
        "setsid nohup bash -c 'echo $$ > pid; exec sleep 987' >/dev/null 2>&1 & until [ -s pid ]; do :; done; echo started"
      const { text } = yield* tools.call("shell", { command })
      assert.include(text, "started")
      const [pid = 0] = yield* pidsIn(`${ws}/pid`, 1)
      assert.isAbove(pid, 1)
      assert.isFalse(isRunning(pid))
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("kills everything on timeout and says so, with the output until then", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const command = "trap '' TERM; echo $$ > pid; echo working; sleep 987 & echo $! >> pid; while :; do sleep 1; done"
      const { outcome, text } = yield* tools.call("shell", { command, timeout: 0.5 })
      assert.strictEqual(outcome, "error")
      assert.match(text, /^Timed out after 0\.5 s: .*\nworking/)
      for (const pid of yield* pidsIn(`${ws}/pid`, 2)) assert.isFalse(isRunning(pid))
      const owner = yield* toolsOn(ws, {}, { timeout: 300 })
      const bounded = yield* owner.call("shell", { command: "sleep 987", timeout: 3600 })
      assert.include(bounded.text, "Timed out after 0.3 s")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("is gone with all its processes when an interruption returns", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const command = "echo $$ > pid; sleep 987 & echo $! >> pid; setsid sleep 986 & echo $! >> pid; wait"
      const running = yield* Effect.fork(tools.call("shell", { command }))
      const pids = yield* pidsIn(`${ws}/pid`, 3)
      const begun = performance.now()
      yield* Fiber.interrupt(running)
      for (const pid of pids) assert.isFalse(isRunning(pid))
      assert.isBelow(performance.now() - begun, 1000)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("writes its process group down before the command can be lost, and strikes it out afterwards", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const noted: Array<[string, StartedGroup]> = []
      const ledger = Layer.succeed(ProcessLedger, {
        record: (group) => Effect.sync(() => noted.push(["record", group])),
        forget: (group) => Effect.sync(() => noted.push(["forget", group]))
      })
      const box = ToolBox.layer.pipe(Layer.provide([Sandbox.layer, Approver.nobody, ledger]))
      yield* Effect.gen(function* () {
        const tools = yield* toolsOn(ws)
        yield* tools.call("shell", { command: "echo $$ > pid" })
        const running = yield* Effect.fork(tools.call("shell", { command: "echo $$ > pid2; sleep 987" }))
        yield* pidsIn(`${ws}/pid2`, 1)
        yield* Fiber.interrupt(running)
      }).pipe(Effect.provide(box))
      assert.deepStrictEqual(
        noted.map(([what]) => what),
        ["record", "forget", "record", "forget"]
      )
      assert.strictEqual(noted[0]?.[1], noted[1]?.[1])
      assert.match(noted[0]?.[1].startTime ?? "", /^\d+$/)
      assert.match(noted[0]?.[1].marker ?? "", /^SAGYO_CALL=/)
      assert.strictEqual(String(noted[0]?.[1].pgid), readFileSync(`${ws}/pid`, "utf8").trim())
    })
  )

  it.scopedLive("survives a command that removes its own folder", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      assert.include((yield* tools.call("shell", { command: 'rm -rf "$PWD"; echo gone' })).text, "gone")
      const second = yield* tools.call("shell", { command: "pwd" })
      assert.strictEqual(second.outcome, "error")
      assert.include(second.text, `workspace folder ${ws} does not exist`)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("does not take programs from the workspace for its own", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/rg`, "#!/bin/sh\necho hacked > hacked\n", { mode: 0o755 })
      const path = process.env.PATH
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          process.env.PATH = `.:${ws}:${path}`
        }),
        () =>
          Effect.sync(() => {
            process.env.PATH = path
          })
      )
      const tools = yield* toolsOn(ws)
      yield* tools.call("search_files", { pattern: "x" })
      assert.isFalse(existsSync(`${ws}/hacked`))
    }).pipe(Effect.provide(layer))
  )
})
