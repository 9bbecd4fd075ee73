import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layer, sha256, temporaryFolder, toolsOn } from "./ToolKit.ts"

describe("edit_file", () => {
  it.scopedLive("replaces a text and shows the difference", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.ts`, "one\ntwo\nthree\nfour\nfive\n")
      chmodSync(`${ws}/a.ts`, 0o700)
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("edit_file", { path: "a.ts", old_string: "three", new_string: "THREE\n3" })
      assert.deepStrictEqual(result, {
        outcome: "ok",
        text: "Edited a.ts: 1 place\n@@ -1,5 +1,6 @@\n one\n two\n-three\n+THREE\n+3\n four\n five",
        changed: ["a.ts"]
      })
      assert.strictEqual(readFileSync(`${ws}/a.ts`, "utf8"), "one\ntwo\nTHREE\n3\nfour\nfive\n")
      assert.strictEqual(statSync(`${ws}/a.ts`).mode & 0o777, 0o700)
    }).pipe(Effect.provide(layer))
  )

  // D21
  it.scopedLive("takes the new text as it is, whatever signs are in it", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.sh`, "A X B\n")
      const tools = yield* toolsOn(ws)
      const signs = "cost=$$ $& $` $' $1 $<n>"
      yield* tools.call("edit_file", { path: "a.sh", old_string: "X", new_string: signs })
      assert.strictEqual(readFileSync(`${ws}/a.sh`, "utf8"), `A ${signs} B\n`)
    }).pipe(Effect.provide(layer))
  )

  // D23
  it.scopedLive("changes no byte that it was not asked to change", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const bytes = (middle: string) => Buffer.from(`\xef\xbb\xbfa\r\n${middle}\nc\rd`, "latin1")
      writeFileSync(`${ws}/m.txt`, bytes("b"))
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("edit_file", { path: "m.txt", old_string: "b", new_string: "B" })
      assert.strictEqual(result.outcome, "ok")
      assert.strictEqual(sha256(readFileSync(`${ws}/m.txt`)), sha256(bytes("B")))
    }).pipe(Effect.provide(layer))
  )

  // D24
  it.scopedLive("leaves files of other encodings as they are, and edits UTF-16 in its own", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const latin1 = Buffer.from("caf\xe9 cafe\n", "latin1")
      writeFileSync(`${ws}/l.txt`, latin1)
      writeFileSync(`${ws}/u.txt`, Buffer.from("\ufeffcafé cafe\r\n", "utf16le"))
      const tools = yield* toolsOn(ws)
      const refused = yield* tools.call("edit_file", { path: "l.txt", old_string: "cafe", new_string: "bar" })
      assert.strictEqual(refused.outcome, "error")
      assert.include(refused.text, "not text in UTF-8")
      assert.isTrue(readFileSync(`${ws}/l.txt`).equals(latin1))
      const edited = yield* tools.call("edit_file", { path: "u.txt", old_string: "cafe", new_string: "bar" })
      assert.strictEqual(edited.outcome, "ok")
      assert.strictEqual(readFileSync(`${ws}/u.txt`, "utf16le"), "\ufeffcafé bar\r\n")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("refuses an ambiguous text unless all places are meant", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.txt`, "x\ny\nx x\n")
      const tools = yield* toolsOn(ws)
      const ambiguous = yield* tools.call("edit_file", { path: "a.txt", old_string: "x", new_string: "z" })
      assert.strictEqual(ambiguous.outcome, "error")
      assert.include(ambiguous.text, "more than once in a.txt (lines 1, 3, 3)")
      assert.strictEqual(readFileSync(`${ws}/a.txt`, "utf8"), "x\ny\nx x\n")
      const all = yield* tools.call("edit_file", {
        path: "a.txt",
        old_string: "x",
        new_string: "xx",
        replace_all: true
      })
      assert.include(all.text, "3 places")
      assert.strictEqual(readFileSync(`${ws}/a.txt`, "utf8"), "xx\ny\nxx xx\n")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("helps on where the text is not there", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.ts`, "import x\n\nexport const total = add(1, 2)\n\nend\n")
      const tools = yield* toolsOn(ws)
      const edit = (old_string: string, new_string: string, path = "a.ts") =>
        tools.call("edit_file", { path, old_string, new_string })
      const near = yield* edit("export const total = sum(1, 2)", "x")
      assert.include(
        near.text,
        "not found in a.ts. The nearest text is:\n1|import x\n2|\n3|export const total = add(1, 2)"
      )
      const far = yield* edit("nothing like it at all", "x")
      assert.include(far.text, "Read the file and copy the text exactly.")
      assert.include((yield* edit("subtract", "add(1, 2)")).text, "new_string is already in the file")
      assert.include((yield* edit("", "x")).text, "Use write_file")
      assert.include((yield* edit("end", "end")).text, "nothing to change")
      assert.include((yield* edit("a", "b", "b.ts")).text, "Did you mean a.ts?")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("keeps the diff short however much is replaced", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/a.txt`, "x\n\n\n\n\n\n\n\n".repeat(5000))
      const tools = yield* toolsOn(ws)
      const result = yield* tools.call("edit_file", {
        path: "a.txt",
        old_string: "x",
        new_string: "y",
        replace_all: true
      })
      assert.include(result.text, "5000 places")
      assert.match(result.text, /… \[\d+ more hunks\]$/)
      assert.isAtMost(result.text.length, 4000)
    }).pipe(Effect.provide(layer))
  )
})
