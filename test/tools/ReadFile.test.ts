import { execFileSync } from "node:child_process"
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from "node:fs"
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layer, settingsFor, temporaryFolder, toolsOn } from "./ToolKit.ts"

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)

describe("read_file", () => {
  it.scopedLive("numbers lines and reads a range", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.txt`, `${lines(10).join("\n")}\n`)
      const tools = yield* toolsOn(ws)
      const part = yield* tools.call("read_file", { path: "a.txt", offset: 3, limit: 2 })
      assert.match(part.text, /^3\|line 3\n4\|line 4\n\[.*call read_file with offset 5\]$/)
      const end = yield* tools.call("read_file", { path: "a.txt", offset: 9, limit: 5 })
      assert.strictEqual(end.text, "9|line 9\n10|line 10")
      const beyond = yield* tools.call("read_file", { path: "a.txt", offset: 11 })
      assert.strictEqual(beyond.outcome, "error")
      assert.include(beyond.text, "has only 10 lines")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("reads whatever the line ends are, with and without one at the end", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const texts = { "": "a.txt is empty.", a: "1|a", "a\r\nb\r\n": "1|a\n2|b", "a\n\nb": "1|a\n2|\n3|b", "\n": "1|" }
      for (const [content, shown] of Object.entries(texts)) {
        writeFileSync(`${ws}/a.txt`, content)
        assert.strictEqual((yield* tools.call("read_file", { path: "a.txt" })).text, shown, JSON.stringify(content))
      }
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("bounds its text by the context, and says how to go on", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/long.txt`, lines(100_000).join("\n"))
      writeFileSync(`${ws}/wide.txt`, `${"日".repeat(200_000)}\nend\n`)
      const { box, environment } = yield* toolsOn(ws)
      for (const numCtx of [2048, 16_384, 1_000_000]) {
        const settings = { ...environment.settings, ollama: { ...settingsFor(ws).ollama, numCtx } }
        const long = yield* box.call({ ...environment, settings }, "read_file", { path: "long.txt" })
        assert.isAtMost(Buffer.byteLength(long.text), 60_000)
        assert.match(long.text, /it goes on: call read_file with offset \d+\]$/)
        const wide = yield* box.call({ ...environment, settings }, "read_file", { path: "wide.txt" })
        assert.match(wide.text, /^1\|日+… \[598\d{3} more bytes in this line\]\n2\|end$/)
      }
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("reads the start of a huge file and says where it stops looking", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const file = openSync(`${ws}/huge.txt`, "w")
      writeSync(file, "first line\n".repeat(1000))
      ftruncateSync(file, 20 * 1024 ** 3)
      closeSync(file)
      const tools = yield* toolsOn(ws)
      const start = yield* tools.call("read_file", { path: "huge.txt", limit: 1 })
      assert.match(start.text, /^1\|first line\n\[.*21474836480 bytes; it goes on/)
      const far = yield* tools.call("read_file", { path: "huge.txt", offset: 100_000 })
      assert.strictEqual(far.outcome, "error")
      assert.include(far.text, "too far into the file")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("says what binary files and images are", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const kinds: ReadonlyArray<readonly [string, string]> = [
        ["\x89PNG\r\n\x1a\n\0", "a PNG image"],
        ["\xff\xd8\xff\xe0\0", "a JPEG image"],
        ["RIFF\x10\0\0\0WEBPVP8 ", "a WebP image"],
        ["ELF\0\x01\0", "a binary file"]
      ]
      for (const [content, kind] of kinds) {
        writeFileSync(`${ws}/f`, Buffer.from(content, "latin1"))
        const result = yield* tools.call("read_file", { path: "f" })
        assert.strictEqual(result.outcome, "error")
        assert.include(result.text, kind)
      }
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("decodes UTF-8 and UTF-16 with their marks, and refuses other encodings", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws)
      const utf16 = Buffer.from("\ufeff日本\r\nb\n", "utf16le")
      writeFileSync(`${ws}/le.txt`, utf16)
      writeFileSync(`${ws}/be.txt`, Buffer.from(utf16).swap16())
      writeFileSync(`${ws}/bom.txt`, "\ufeff日本\r\nb\n")
      for (const path of ["le.txt", "be.txt", "bom.txt"]) {
        assert.strictEqual((yield* tools.call("read_file", { path })).text, "1|日本\n2|b", path)
      }
      writeFileSync(`${ws}/latin1.txt`, Buffer.from("caf\xe9\n", "latin1"))
      const latin1 = yield* tools.call("read_file", { path: "latin1.txt" })
      assert.strictEqual(latin1.outcome, "error")
      assert.include(latin1.text, "not text in UTF-8")
    }).pipe(Effect.provide(layer))
  )

  // D26
  it.scopedLive("refuses at once what is not a regular file, many times over", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      execFileSync("mkfifo", [`${ws}/p`])
      mkdirSync(`${ws}/d`)
      const server = createServer().listen(`${ws}/s`)
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      symlinkSync("/dev/zero", `${ws}/z`)
      writeFileSync(`${ws}/a.txt`, "x\n")
      const tools = yield* toolsOn(ws)
      for (const path of ["p", "p", "p", "p", "p", "d", "s", "z"]) {
        const calls = [
          tools.call("read_file", { path }),
          tools.call("edit_file", { path, old_string: "a", new_string: "b" }),
          tools.call("write_file", { path, content: "x" }),
          ...(path === "d" ? [] : [tools.call("search_files", { path, pattern: "x" })])
        ]
        for (const result of yield* Effect.all(calls, { concurrency: "unbounded" })) {
          assert.strictEqual(result.outcome, "error", path)
        }
      }
      assert.include((yield* tools.call("read_file", { path: "p" })).text, "named pipe")
      assert.strictEqual((yield* tools.call("read_file", { path: "a.txt" })).text, "1|x")
      assert.strictEqual((yield* tools.call("search_files", { pattern: "x" })).text, "a.txt:1: x")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("suggests the name that was meant", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      mkdirSync(`${ws}/src`)
      writeFileSync(`${ws}/src/Reader.ts`, "")
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("read_file", { path: "src/reader.tsx" })
      assert.strictEqual(result.text, "src/reader.tsx does not exist. Did you mean src/Reader.ts?")
      assert.notInclude((yield* tools.call("read_file", { path: "src/other.md" })).text, "Did you mean")
    }).pipe(Effect.provide(layer))
  )
})
