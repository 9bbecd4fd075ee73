import { assert, describe, it } from "@effect/vitest"
import { type Check, type Entry, judge, readBaseline } from "./Baseline.ts"

const check = (id: string, status: Check["status"] = "SUCCESS"): Check => ({ id, status })

const entry = (is: Entry["is"], ...what: readonly [string, ...Array<string>]): Entry => ({
  is,
  server: "sagyo",
  versions: ["2026-07-28"],
  reason: "because",
  what
})

const wrong = (checks: ReadonlyArray<Check>, entries: ReadonlyArray<Entry> = [], hollow = false) =>
  judge("ping", checks, hollow, entries).problems

describe("the conformance baseline", () => {
  it("what passes needs no entry", () => {
    assert.deepStrictEqual(judge("ping", [check("a"), check("wire-schema-valid"), check("b", "INFO")], false, []), {
      problems: [],
      counted: 1,
      used: []
    })
  })

  it("what fails, warns, is skipped, tests nothing or passes against an empty server needs one", () => {
    for (const status of ["FAILURE", "WARNING", "SKIPPED"] as const) {
      assert.lengthOf(wrong([check("a"), check("b", status)]), 1)
      assert.lengthOf(wrong([check("a"), check("b", status)], [entry("fails", "ping:b")]), 0)
      assert.lengthOf(wrong([check("a"), check("b", status)], [entry("fails", "ping")]), 0)
    }
    for (const checks of [[], [check("a", "INFO")], [check("wire-schema-valid")]]) {
      assert.lengthOf(wrong(checks), 1)
    }
    assert.lengthOf(wrong([check("a")], [], true), 1)
    assert.lengthOf(wrong([check("a")], [entry("hollow", "ping")], true), 0)
  })

  it("an entry that is no longer so is a fault, and an invalid message always is", () => {
    assert.lengthOf(wrong([check("a")], [entry("fails", "ping")]), 1)
    assert.lengthOf(wrong([check("a")], [entry("fails", "ping:a")]), 1)
    assert.lengthOf(wrong([check("a", "FAILURE")], [entry("hollow", "ping")], true), 1)
    const invalid = [check("a", "FAILURE"), check("wire-schema-valid", "FAILURE")]
    assert.lengthOf(wrong(invalid, [entry("fails", "ping")]), 1)
  })

  it("the file has a reason for each entry, and names nothing twice", () => {
    const named = readBaseline(new URL("./baseline.yaml", import.meta.url)).flatMap(({ server, versions, what }) =>
      versions.flatMap((version) => what.map((name) => `${server} ${version} ${name}`))
    )
    assert.strictEqual(new Set(named).size, named.length)
  })
})
