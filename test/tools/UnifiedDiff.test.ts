import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { applyAll, type Replacement, unifiedDiff } from "../../src/tools/UnifiedDiff.ts"

const replace = (file: string, old: string, text: string): Replacement => ({
  start: file.indexOf(old),
  end: file.indexOf(old) + old.length,
  text
})

const diff = (file: string, old: string, text: string) => unifiedDiff(file, [replace(file, old, text)], 3000)

describe("unifiedDiff", () => {
  it("shows removed and added lines with three around them", () => {
    const file = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    assert.strictEqual(diff(file, "5\n", ""), "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8")
    assert.strictEqual(diff(file, "1", "0\n1"), "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3")
    assert.strictEqual(diff(file, "9", "9\n10"), "@@ -7,3 +7,4 @@\n 7\n 8\n 9\n+10")
    assert.strictEqual(diff("a\r\nb\r\n", "b", "c"), "@@ -1,2 +1,2 @@\n a\n-b\n+c")
  })

  it("counts the lines of the new file where earlier places grew", () => {
    const file = Array.from({ length: 20 }, (_, index) => `${index + 1}.\n`).join("")
    const both = [replace(file, "2.", "x\ny\nz"), replace(file, "15.", "w")]
    const heads = unifiedDiff(file, both, 3000)
      .split("\n")
      .filter((line) => line.startsWith("@@"))
    assert.deepStrictEqual(heads, ["@@ -1,5 +1,7 @@", "@@ -12,7 +14,7 @@"])
  })

  it("puts replacements in one line together", () => {
    const file = "x x\ny\n"
    const both = [
      { start: 0, end: 1, text: "z" },
      { start: 2, end: 3, text: "z" }
    ]
    assert.strictEqual(unifiedDiff(file, both, 3000), "@@ -1,2 +1,2 @@\n-x x\n+z z\n y")
  })

  it("is what patch needs to make the new file of the old one", () => {
    const folder = mkdtempSync(join(tmpdir(), "sagyo-diff-"))
    const line = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 3 })
    const cuts = fc.uniqueArray(fc.nat(60), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), cuts, fc.array(line), (lines, at, added) => {
        const old = `${lines.join("\n")}\n`
        const sorted = at.map((position) => Math.min(position, old.length - 1)).sort((one, other) => one - other)
        const text = added.join("\n")
        const replacements: Array<Replacement> = []
        for (let index = 0; index + 1 < sorted.length; index += 2) {
          replacements.push({ start: sorted[index]!, end: sorted[index + 1]!, text })
        }
        const result = applyAll(old, replacements)
        const patch = unifiedDiff(old, replacements, 100_000)
        fc.pre(result !== old)
        writeFileSync(`${folder}/f`, old)
        writeFileSync(`${folder}/p`, `--- f\n+++ f\n${patch}\n`)
        execFileSync("git", ["apply", "p"], { cwd: folder, stdio: "pipe" })
        assert.strictEqual(readFileSync(`${folder}/f`, "utf8"), result)
      }),
      { numRuns: 40 }
    )
    rmSync(folder, { recursive: true })
  })
})
