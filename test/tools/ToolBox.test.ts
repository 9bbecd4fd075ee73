import { rmSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layer, temporaryFolder, toolsOn } from "./ToolKit.ts"

const NAMES = ["read_file", "list_files", "search_files", "write_file", "edit_file", "shell"]

describe("ToolBox", () => {
  it.scopedLive("offers the six tools in their order, in at most 3,600 bytes", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      const { definitions, withheld } = yield* tools.box.offer(tools.environment)
      assert.deepStrictEqual(
        definitions.map((definition) => definition.function.name),
        NAMES
      )
      assert.deepStrictEqual(withheld, [])
      assert.isAtMost(Buffer.byteLength(JSON.stringify(definitions)), 3600)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("withholds a shell that is switched off, and does not run it either", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder, {}, { enabled: false })
      const { definitions, withheld } = yield* tools.box.offer(tools.environment)
      assert.strictEqual(definitions.length, 5)
      assert.strictEqual(withheld[0]?.name, "shell")
      assert.include(withheld[0]?.reason.en, "tools.shell.enabled")
      const result = yield* tools.call("shell", { command: "true" })
      assert.strictEqual(result.outcome, "error")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("answers an unknown tool with the names that exist", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      for (const name of ["__proto__", "toString", "constructor", "", "functions.read_file", "ReadFile"]) {
        const result = yield* tools.call(name, {})
        assert.strictEqual(result.outcome, "error", name)
        assert.include(result.text, "read_file, list_files, search_files, write_file, edit_file, shell", name)
      }
      const near = yield* tools.call("functions.read_file", {})
      assert.include(near.text, "Did you mean read_file?")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("names the parameter and its rule where arguments are wrong", () =>
    Effect.gen(function* () {
      const tools = yield* toolsOn(yield* temporaryFolder)
      const missing = yield* tools.call("read_file", { file_path: "a.txt" })
      assert.strictEqual(missing.outcome, "error")
      assert.include(missing.text, "`path` is missing")
      assert.include(missing.text, "no parameter `file_path`")
      assert.include(missing.text, "{path, offset?, limit?}")
      const wrong = yield* tools.call("read_file", { path: ["a"], offset: -3 })
      assert.include(wrong.text, "`path` must be a string, not an array")
      assert.include(wrong.text, "`offset` must be a whole number from 1")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("takes numbers and booleans that were written as text, and null for what is left out", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      writeFileSync(`${folder}/a.txt`, "a\nb\nc\n")
      const tools = yield* toolsOn(folder)
      const read = yield* tools.call("read_file", { path: "a.txt", offset: "2", limit: null })
      assert.strictEqual(read.text, "2|b\n3|c")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("says that the workspace is gone, whatever the tool", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const tools = yield* toolsOn(folder)
      rmSync(folder, { recursive: true })
      // D16
      const calls = [
        tools.call("shell", { command: "pwd" }),
        tools.call("write_file", { path: "x.txt", content: "x" }),
        tools.call("list_files", {})
      ]
      for (const result of yield* Effect.all(calls)) {
        assert.strictEqual(result.outcome, "error")
        assert.include(result.text, "does not exist any more")
      }
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("says on one line what a call works on, and never its content", () =>
    Effect.gen(function* () {
      const { box } = yield* toolsOn(yield* temporaryFolder)
      assert.strictEqual(box.subject("read_file", { path: "src/a.ts" }), "read_file src/a.ts")
      assert.strictEqual(box.subject("shell", { command: "npm\ntest\u001b[31m" }), "shell npm test")
      assert.strictEqual(box.subject("write_file", { path: "a", content: "secret" }), "write_file a")
      assert.strictEqual(box.subject("list_files", {}), "list_files")
      assert.strictEqual(box.subject("shell", { command: 7 }), "shell")
      assert.strictEqual(box.subject("no\nsuch", {}), "no such")
    }).pipe(Effect.provide(layer))
  )
})
