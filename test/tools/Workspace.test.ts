import { execFileSync } from "node:child_process"
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { replaceFile } from "../../src/tools/ReplaceFile.ts"
import { locate, openWorkspace } from "../../src/tools/Workspace.ts"
import { layer, settingsFor, temporaryFolder, toolsOn } from "./ToolKit.ts"

/** A folder `t` with the workspace `t/ws` in it, and files that nobody may reach around it. */
const surrounded = Effect.map(temporaryFolder, (t) => {
  const ws = `${t}/ws`
  mkdirSync(ws)
  mkdirSync(`${t}/ws-secret`)
  writeFileSync(`${ws}/a.txt`, "inside\n")
  writeFileSync(`${t}/ws-secret/s.txt`, "SECRET\n")
  writeFileSync(`${t}/s.txt`, "SECRET\n")
  return { t, ws }
})

describe("Workspace", () => {
  // D19
  it.scopedLive("reads what is inside by its relative or absolute path, and nothing else", () =>
    Effect.gen(function* () {
      const { t, ws } = yield* surrounded
      const tools = yield* toolsOn(ws)
      for (const path of ["./a.txt", `${ws}/a.txt`, "a.txt"]) {
        const result = yield* tools.call("read_file", { path })
        assert.strictEqual(result.text, "1|inside", path)
      }
      const outside = [
        "../s.txt",
        "../ws-secret/s.txt",
        `${t}/ws-secret/s.txt`,
        "sub/../../s.txt",
        `${ws}/../s.txt`,
        "..\\s.txt",
        "a.txt/../../s.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "~/.bashrc"
      ]
      for (const path of outside) {
        for (const name of ["read_file", "list_files", "write_file", "edit_file"]) {
          const extra = { write_file: { content: "x" }, edit_file: { old_string: "S", new_string: "T" } }[name] ?? {}
          const result = yield* tools.call(name, { path, ...extra })
          assert.strictEqual(result.outcome, "error", `${name} ${path}`)
          assert.notInclude(result.text, "SECRET")
        }
      }
      assert.strictEqual(readFileSync(`${t}/s.txt`, "utf8"), "SECRET\n")
      assert.isFalse(existsSync(`${ws}/..\\s.txt`))
    }).pipe(Effect.provide(layer))
  )

  // D20
  it.scopedLive("follows no link to the outside, dangling ones and linked parents included", () =>
    Effect.gen(function* () {
      const { t, ws } = yield* surrounded
      writeFileSync(`${t}/hostname`, "host\n")
      symlinkSync(`${t}/hostname`, `${ws}/l1`)
      symlinkSync(`${t}/new-outside`, `${ws}/l2`)
      symlinkSync(t, `${ws}/d1`)
      symlinkSync("../ws/d1/new-outside", `${ws}/l3`)
      symlinkSync("a.txt", `${ws}/ok`)
      const tools = yield* toolsOn(ws)
      for (const path of ["l1", "l2", "l3", "d1/new.txt", "d1/x/y/new.txt", "d1/s.txt"]) {
        const results = [
          yield* tools.call("write_file", { path, content: "x" }),
          yield* tools.call("read_file", { path }),
          yield* tools.call("edit_file", { path, old_string: "host", new_string: "x" })
        ]
        for (const result of results) {
          assert.strictEqual(result.outcome, "error", path)
          assert.include(result.text, "outside the workspace", path)
        }
      }
      for (const made of ["new-outside", "new.txt", "x"]) assert.isFalse(existsSync(`${t}/${made}`), made)
      assert.strictEqual(readFileSync(`${t}/hostname`, "utf8"), "host\n")
      const through = yield* tools.call("write_file", { path: "ok", content: "new\n" })
      assert.strictEqual(through.outcome, "ok")
      assert.isTrue(lstatSync(`${ws}/ok`).isSymbolicLink())
      assert.strictEqual(readFileSync(`${ws}/a.txt`, "utf8"), "new\n")
    }).pipe(Effect.provide(layer))
  )

  // D29
  it.scopedLive("refuses paths that are none", () =>
    Effect.gen(function* () {
      const { ws } = yield* surrounded
      const tools = yield* toolsOn(ws)
      for (const path of ["a.txt\0.png", "", "   ", ".", "x".repeat(5000), "x".repeat(300), "\ud800.txt", "a\nb"]) {
        const read = yield* tools.call("read_file", { path })
        assert.strictEqual(read.outcome, "error", JSON.stringify(path))
        assert.notInclude(read.text, "inside\n")
        assert.isAtMost(read.text.length, 600)
        const written = yield* tools.call("write_file", { path, content: "x" })
        assert.strictEqual(written.outcome, "error", JSON.stringify(path))
      }
      const nul = yield* tools.call("shell", { command: "echo a\0b" })
      assert.strictEqual(nul.outcome, "error")
      assert.include(nul.text, "NUL")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("does not write through a folder that became a link after the check", () =>
    Effect.gen(function* () {
      const { t, ws } = yield* surrounded
      mkdirSync(`${ws}/sub`)
      const workspace = yield* openWorkspace(settingsFor(ws))
      const place = yield* locate(workspace, "sub/new.txt")
      renameSync(`${ws}/sub`, `${ws}/was-sub`)
      symlinkSync(`${t}/ws-secret`, `${ws}/sub`)
      const failed = yield* Effect.flip(replaceFile(workspace, place, Buffer.from("x")))
      assert.strictEqual(failed._tag, "ToolFailed")
      assert.isFalse(existsSync(`${t}/ws-secret/new.txt`))
    })
  )

  it.scopedLive("shows nothing of hidden folders, not even in lists and searches", () =>
    Effect.gen(function* () {
      const { ws } = yield* surrounded
      mkdirSync(`${ws}/data`)
      writeFileSync(`${ws}/data/token`, "needle\n")
      const { environment, box } = yield* toolsOn(ws)
      const hiding = { ...environment, settings: { ...environment.settings, hidden: [`${ws}/data`] } }
      for (const [name, args] of [
        ["read_file", { path: "data/token" }],
        ["list_files", { path: "data" }],
        ["write_file", { path: "data/x", content: "x" }]
      ] as const) {
        assert.strictEqual((yield* box.call(hiding, name, args)).outcome, "error", name)
      }
      assert.strictEqual((yield* box.call(hiding, "list_files", {})).text, "a.txt")
      assert.include((yield* box.call(hiding, "search_files", { pattern: "needle" })).text, "Nothing")
      const inside = { ...environment, settings: { ...environment.settings, hidden: [`${ws}/..`] } }
      assert.strictEqual((yield* box.call(inside, "read_file", { path: "a.txt" })).outcome, "ok")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("keeps git's hooks and settings from the file tools", () =>
    Effect.gen(function* () {
      const { ws } = yield* surrounded
      execFileSync("git", ["init", "-q", ws])
      symlinkSync(".git", `${ws}/alias`)
      const before = readFileSync(`${ws}/.git/config`, "utf8")
      const tools = yield* toolsOn(ws)
      const paths = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
        "alias/hooks/x",
        ".git/commondir",
        ".git/modules/m/config",
        "sub/.git/hooks/x",
        "sub/.git"
      ]
      for (const path of paths) {
        const result = yield* tools.call("write_file", { path, content: "#!/bin/sh\n" })
        assert.strictEqual(result.outcome, "error", path)
        assert.include(result.text, "protected", path)
      }
      const edited = yield* tools.call("edit_file", { path: ".git/config", old_string: "[core]", new_string: "[x]" })
      assert.strictEqual(edited.outcome, "error")
      assert.strictEqual(readFileSync(`${ws}/.git/config`, "utf8"), before)
      assert.strictEqual((yield* tools.call("write_file", { path: ".gitignore", content: "x\n" })).outcome, "ok")
    }).pipe(Effect.provide(layer))
  )
})
