import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layer, temporaryFolder, toolsOn } from "./ToolKit.ts"

describe("list_files", () => {
  it.scopedLive("draws a tree, leaves out what .gitignore names, and follows no link", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      for (const folder of [".git", "src/deep", "dist", "node_modules/x", "lib"]) {
        mkdirSync(`${ws}/${folder}`, { recursive: true })
      }
      for (const file of [
        "a.log",
        "keep.log",
        "src/deep/b.ts",
        "src/gen.ts",
        "dist/x",
        "node_modules/x/y",
        "lib/a.log"
      ]) {
        writeFileSync(`${ws}/${file}`, "")
      }
      writeFileSync(`${ws}/.gitignore`, "*.log\n!keep.log\n/dist/\n")
      writeFileSync(`${ws}/src/.gitignore`, "gen.ts\n")
      writeFileSync(`${ws}/lib/.gitignore`, "!a.log\n")
      symlinkSync(".", `${ws}/loop`)
      execFileSync("mkfifo", [`${ws}/pipe`])
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("list_files", {})
      assert.strictEqual(
        result.text,
        [
          ".gitignore",
          "keep.log",
          "lib/",
          "  .gitignore",
          "  a.log",
          "loop -> .",
          "node_modules/ …",
          "pipe (not a regular file)",
          "src/",
          "  .gitignore",
          "  deep/",
          "    b.ts",
          "[3 entries that .gitignore names are left out]",
          "[… marks folders that are not shown whole: list them by their path]"
        ].join("\n")
      )
      assert.include((yield* tools.call("list_files", { path: "src" })).text, "deep/\n  b.ts")
      assert.notInclude((yield* tools.call("list_files", { path: "src/" })).text, "gen.ts")
      assert.include((yield* tools.call("list_files", { path: "node_modules" })).text, "x/\n  y")
      assert.strictEqual((yield* tools.call("list_files", { path: "" })).text, result.text)
      assert.include((yield* tools.call("list_files", { path: "keep.log" })).text, "is a file of 0 bytes")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("stays within its budget and shows the upper levels first", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      for (let folder = 0; folder < 60; folder++) {
        mkdirSync(`${ws}/folder${folder}`)
        for (let file = 0; file < 60; file++) writeFileSync(`${ws}/folder${folder}/some-file-${file}.txt`, "")
      }
      mkdirSync(`${ws}/many`)
      for (let file = 0; file < 500; file++) writeFileSync(`${ws}/many/${file}`, "")
      const tools = yield* toolsOn(ws)
      const { text } = yield* tools.call("list_files", {})
      assert.isAtMost(Buffer.byteLength(text), 16_000)
      for (let folder = 0; folder < 60; folder++) assert.include(text, `folder${folder}/`)
      assert.include(text, "many/ …")
      const many = yield* tools.call("list_files", { path: "many" })
      assert.strictEqual(many.text.split("\n").filter((line) => /^\d+$/.test(line)).length, 200)
      assert.include(many.text, "\n…\n")
    }).pipe(Effect.provide(layer))
  )

  // D28
  it.scopedLive("shows odd names on one line each, without raw control characters", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      execFileSync(
        "bash",
        [
          "-c",
          "printf x > $'\\xe9.txt'; printf x > $'new\\nline.txt'; printf x > $'\\e[31mred.txt'; printf x > 日本.txt"
        ],
        {
          cwd: ws
        }
      )
      const tools = yield* toolsOn(ws)
      const { text } = yield* tools.call("list_files", {})
      assert.strictEqual(text, "\\x1b[31mred.txt\nnew\\nline.txt\n日本.txt\n\\xe9.txt")
    }).pipe(Effect.provide(layer))
  )
})
