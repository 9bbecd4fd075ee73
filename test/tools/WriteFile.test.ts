import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { replaceFile } from "../../src/tools/ReplaceFile.ts"
import { locate, openWorkspace } from "../../src/tools/Workspace.ts"
import { layer, settingsFor, temporaryFolder, toolsOn } from "./ToolKit.ts"

const temporaries = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".tmp"))

describe("write_file", () => {
  it.scopedLive("creates files with the folders that they need", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("write_file", { path: "a/b/c.txt", content: "日本\n" })
      assert.deepStrictEqual(result, {
        outcome: "ok",
        text: "Created a/b/c.txt (7 bytes).",
        changed: ["a/b/c.txt"]
      })
      assert.strictEqual(readFileSync(`${ws}/a/b/c.txt`, "utf8"), "日本\n")
      assert.strictEqual((yield* tools.call("write_file", { path: "empty", content: "" })).outcome, "ok")
      assert.strictEqual(statSync(`${ws}/empty`).size, 0)
    }).pipe(Effect.provide(layer))
  )

  // D30
  it.scopedLive("replaces a large file whole: mode and link stay, another hard link keeps the old content", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/run.sh`, "old")
      chmodSync(`${ws}/run.sh`, 0o755)
      symlinkSync("run.sh", `${ws}/link.sh`)
      linkSync(`${ws}/run.sh`, `${ws}/other`)
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("write_file", { path: "link.sh", content: "A".repeat(20_000_000) })
      assert.strictEqual(result.text, "Replaced run.sh (20000000 bytes).")
      assert.strictEqual(statSync(`${ws}/run.sh`).mode & 0o7777, 0o755)
      assert.strictEqual(statSync(`${ws}/run.sh`).size, 20_000_000)
      assert.isTrue(lstatSync(`${ws}/link.sh`).isSymbolicLink())
      assert.strictEqual(readFileSync(`${ws}/other`, "utf8"), "old")
      assert.deepStrictEqual(temporaries(ws), [])
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("keeps byte order mark, encoding and line ends of what was there", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      writeFileSync(`${ws}/crlf.txt`, "\ufeffa\r\nb\r\n")
      const crlf = yield* tools.call("write_file", { path: "crlf.txt", content: "x\ny\n" })
      assert.strictEqual(readFileSync(`${ws}/crlf.txt`, "utf8"), "\ufeffx\r\ny\r\n")
      assert.include(crlf.text, "Kept as before: byte order mark, CRLF line ends.")
      writeFileSync(`${ws}/utf16.txt`, Buffer.from("\ufeffa\n", "utf16le"))
      yield* tools.call("write_file", { path: "utf16.txt", content: "日\n" })
      assert.strictEqual(readFileSync(`${ws}/utf16.txt`, "utf16le"), "\ufeff日\n")
      writeFileSync(`${ws}/mixed.txt`, "a\r\nb\n")
      yield* tools.call("write_file", { path: "mixed.txt", content: "x\ny\r\n" })
      assert.strictEqual(readFileSync(`${ws}/mixed.txt`, "utf8"), "x\ny\r\n")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("leaves the old content and no temporary file when it is interrupted", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.txt`, "old")
      const workspace = yield* openWorkspace(settingsFor(ws))
      const place = yield* locate(workspace, "a.txt")
      // Each chunk is a chance to stop: the write is never over before the interruption comes.
      const writing = yield* Effect.fork(replaceFile(workspace, place, Buffer.alloc(400_000_000, "x")))
      while (temporaries(ws).length === 0) yield* Effect.sleep("1 millis")
      yield* Fiber.interrupt(writing)
      assert.strictEqual(readFileSync(`${ws}/a.txt`, "utf8"), "old")
      assert.deepStrictEqual(temporaries(ws), [])
    })
  )

  it.scopedLive("removes what a writer that was killed has left", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const dead = spawnSync(process.execPath, ["-e", ""]).pid
      writeFileSync(`${ws}/.sagyo-${dead}-0123456789ab.tmp`, "half")
      writeFileSync(`${ws}/.sagyo-${process.pid}-0123456789ab.tmp`, "still being written")
      writeFileSync(`${ws}/.sagyo-notes.tmp`, "somebody's own")
      const tools = yield* toolsOn(ws)
      assert.notInclude((yield* tools.call("list_files", {})).text, "0123456789ab")
      yield* tools.call("write_file", { path: "a.txt", content: "x" })
      assert.deepStrictEqual(temporaries(ws), [`.sagyo-${process.pid}-0123456789ab.tmp`, ".sagyo-notes.tmp"])
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("refuses files that are read-only for their owner, content that is no Unicode, and the root", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const half = yield* tools.call("write_file", { path: "a.txt", content: "\ud800" })
      assert.include(half.text, "not valid Unicode")
      assert.isFalse(existsSync(`${ws}/a.txt`))
      mkdirSync(`${ws}/d`)
      for (const path of ["d", "d/", "."]) {
        const result = yield* tools.call("write_file", { path, content: "x" })
        assert.include(result.text, "is a folder, not a regular file", path)
      }
      writeFileSync(`${ws}/file`, "")
      const below = yield* tools.call("write_file", { path: "file/x", content: "x" })
      assert.include(below.text, "a part of the path is a file")
    }).pipe(Effect.provide(layer))
  )
})

/** A file system of 8 MB, where this process may mount one. */
const canMount = process.getuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0

describe.runIf(canMount)("write_file on a full disk", () => {
  it.scopedLive("keeps the old content, says so, and leaves no temporary file", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      yield* Effect.acquireRelease(
        Effect.sync(() => execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", ws])),
        () => Effect.sync(() => execFileSync("umount", ["-l", ws]))
      )
      writeFileSync(`${ws}/run.sh`, "old")
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("write_file", { path: "run.sh", content: "A".repeat(20_000_000) })
      assert.strictEqual(result.outcome, "error")
      assert.include(result.text, "no space left")
      assert.strictEqual(readFileSync(`${ws}/run.sh`, "utf8"), "old")
      assert.deepStrictEqual(temporaries(ws), [])
    }).pipe(Effect.provide(layer))
  )
})
