import { execFileSync } from "node:child_process"
import { accessSync, chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { findProgram } from "../../src/tools/Programs.ts"
import { searchWithRipgrep } from "../../src/tools/Ripgrep.ts"
import type { SearchOutcome } from "../../src/tools/SearchOutcome.ts"
import { searchWithWorker } from "../../src/tools/SearchWorker.ts"
import type { ToolFailed } from "../../src/tools/ToolFailed.ts"
import { locate, openWorkspace } from "../../src/tools/Workspace.ts"
import { layer, settingsFor, temporaryFolder, toolsOn } from "./ToolKit.ts"

type Engine = (folder: string, pattern: string, path?: string) => Effect.Effect<SearchOutcome, ToolFailed>

const worker: Engine = Effect.fn(function* (folder: string, pattern: string, path = ".") {
  const workspace = yield* openWorkspace(settingsFor(folder))
  return yield* searchWithWorker(workspace, yield* locate(workspace, path), pattern)
})

const ripgrep: Engine = Effect.fn(function* (folder: string, pattern: string, path = ".") {
  const workspace = yield* openWorkspace(settingsFor(folder))
  const program = yield* Effect.promise(() => findProgram("rg", folder))
  return yield* searchWithRipgrep(program ?? "rg", workspace, yield* locate(workspace, path), pattern)
})

const installed = (() => {
  try {
    execFileSync("rg", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

const shown = ({ hits }: SearchOutcome) =>
  hits.map((hit) => `${hit.path.toString("latin1")}:${hit.line}:${hit.text.trimEnd()}`)

/** The file system's rules hold for root only once it has stepped down. */
const asNobody = Effect.acquireRelease(
  Effect.sync(() => {
    if (process.geteuid?.() === 0) process.seteuid?.(65534)
  }),
  () =>
    Effect.sync(() => {
      if (process.getuid?.() === 0) process.seteuid?.(0)
    })
)

for (const [name, search, available] of [
  ["a worker", worker, true],
  ["ripgrep", ripgrep, installed]
] as const) {
  describe.runIf(available)(`search with ${name}`, () => {
    it.scopedLive("finds lines in order, honours .gitignore, and skips binary files, links and pipes", () =>
      Effect.gen(function* () {
        const ws = yield* temporaryFolder
        mkdirSync(`${ws}/src`)
        mkdirSync(`${ws}/.github`)
        mkdirSync(`${ws}/node_modules`)
        mkdirSync(`${ws}/.git`)
        writeFileSync(`${ws}/.gitignore`, "ignored.txt\n")
        writeFileSync(`${ws}/src/.gitignore`, "gen.ts\n")
        for (const file of [
          "b.txt",
          "ignored.txt",
          "src/a.ts",
          "src/gen.ts",
          ".github/ci.yml",
          "node_modules/x",
          ".git/x"
        ]) {
          writeFileSync(`${ws}/${file}`, "first\r\nthe needle here\r\n")
        }
        writeFileSync(`${ws}/bin`, "needle\0needle\n")
        symlinkSync("/etc/passwd", `${ws}/link`)
        symlinkSync(".", `${ws}/loop`)
        execFileSync("mkfifo", [`${ws}/pipe`])
        const found = yield* search(ws, "ne+dle")
        assert.deepStrictEqual(shown(found), [
          ".github/ci.yml:2:the needle here",
          "b.txt:2:the needle here",
          "src/a.ts:2:the needle here"
        ])
        assert.deepStrictEqual(shown(yield* search(ws, "needle", "src")), ["src/a.ts:2:the needle here"])
        assert.deepStrictEqual(shown(yield* search(ws, "needle", "b.txt")), ["b.txt:2:the needle here"])
        assert.deepStrictEqual(shown(yield* search(ws, "needle", "node_modules")), ["node_modules/x:2:the needle here"])
        assert.deepStrictEqual(shown(yield* search(ws, "root:")), [])
        assert.deepStrictEqual(shown(yield* search(ws, "(?i)NEEDLE", "b.txt")), ["b.txt:2:the needle here"])
        assert.deepStrictEqual(shown(yield* search(ws, "-e", "b.txt")), [])
      })
    )

    it.scopedLive("answers an invalid pattern with the reason", () =>
      Effect.gen(function* () {
        const ws = yield* temporaryFolder
        for (const pattern of ["(", "["]) {
          const failed = yield* Effect.flip(search(ws, pattern))
          assert.match(failed.message, /^The pattern could not be used: .*(unclosed|Unterminated)/)
        }
      })
    )

    it.scopedLive("ends when it has enough", () =>
      Effect.gen(function* () {
        const ws = yield* temporaryFolder
        for (let file = 0; file < 20; file++) writeFileSync(`${ws}/${file}`, "x\n".repeat(10_000))
        const found = yield* search(ws, "x")
        assert.strictEqual(found.hits.length, 100)
        assert.strictEqual(found.stopped, "enough")
      })
    )

    // D28
    it.scopedLive("finds files whatever their names are", () =>
      Effect.gen(function* () {
        const ws = yield* temporaryFolder
        const script =
          "printf x > $'\\xe9.txt'; printf x > $'new\\nline.txt'; printf x > $'\\e[31mred.txt'; printf x > plain.txt"
        execFileSync("bash", ["-c", script], { cwd: ws })
        assert.deepStrictEqual(shown(yield* search(ws, "x")).sort(), [
          "\u001b[31mred.txt:1:x",
          "new\nline.txt:1:x",
          "plain.txt:1:x",
          "\xe9.txt:1:x"
        ])
      })
    )

    // D32
    it.scopedLive("goes on past folders that it may not read, and says so", () =>
      Effect.gen(function* () {
        const ws = yield* temporaryFolder
        chmodSync(ws, 0o755)
        symlinkSync(".", `${ws}/loop`)
        symlinkSync("nowhere", `${ws}/dead`)
        mkdirSync(`${ws}/n`)
        chmodSync(`${ws}/n`, 0)
        writeFileSync(`${ws}/z.txt`, "needle\n")
        if (process.getuid?.() === 0) chownSync(`${ws}/n`, 65534, 65534)
        const found = yield* Effect.scoped(Effect.zipRight(asNobody, search(ws, "needle")))
        assert.deepStrictEqual(shown(found), ["z.txt:1:needle"])
        assert.strictEqual(found.skipped.length, 1)
        assert.match(found.skipped[0] ?? "", /^n \((EACCES|permission denied)\)$/)
        assert.doesNotThrow(() => accessSync(ws))
      })
    )

    it.scopedLive("copes with a line of 20 MB", () =>
      Effect.gen(function* () {
        const ws = yield* temporaryFolder
        writeFileSync(`${ws}/long.txt`, `${"a".repeat(20_000_000)}needle\n`)
        writeFileSync(`${ws}/short.txt`, "needle\n")
        const found = yield* search(ws, "needle")
        assert.include(shown(found), "short.txt:1:needle")
      })
    )
  })
}

describe("search with a worker", () => {
  // D27
  it.scopedLive("lets the program go on while a pattern backtracks, and ends when interrupted", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.txt`, "aaa\n")
      writeFileSync(`${ws}/r.txt`, `${"a".repeat(35)}!\n`)
      const searching = yield* Effect.fork(worker(ws, "(a+)+$"))
      const beats: Array<number> = []
      let last = performance.now()
      for (let beat = 0; beat < 20; beat++) {
        yield* Effect.sleep("10 millis")
        beats.push(performance.now() - last)
        last = performance.now()
      }
      assert.isNull(searching.unsafePoll())
      assert.isBelow(Math.max(...beats), 1000)
      yield* Fiber.interrupt(searching).pipe(Effect.timeout("2 seconds"))
    })
  )
})

describe("search_files", () => {
  it.scopedLive("gives one line a hit, escaped and cut", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.txt`, `\u001b[31mneedle\u001b[0m\n${"x".repeat(1000)}needle\n`)
      execFileSync("bash", ["-c", "printf needle > $'new\\nline.txt'"], { cwd: ws })
      const tools = yield* toolsOn(ws)
      const { outcome, text } = yield* tools.call("search_files", { pattern: "needle" })
      assert.strictEqual(outcome, "ok")
      assert.strictEqual(text.split("\n").length, 3)
      assert.include(text, "a.txt:1: needle\n")
      assert.match(text, /a\.txt:2: x{239}…/)
      assert.include(text, "new\\nline.txt:1: needle")
      assert.strictEqual((yield* tools.call("search_files", { pattern: "nowhere" })).text, "Nothing in . matches.")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("refuses patterns that are none", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      for (const pattern of ["", "(", "[", "a\nb", "a\0", "\ud800", "x".repeat(3000)]) {
        assert.strictEqual((yield* tools.call("search_files", { pattern })).outcome, "error", JSON.stringify(pattern))
      }
    }).pipe(Effect.provide(layer))
  )
})
