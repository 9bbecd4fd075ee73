import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as yaml from "yaml"
import { defaults, readConfig } from "../../src/config/ConfigReader.ts"

const text = readFileSync("agent.yaml", "utf8")

describe("the shipped agent.yaml", () => {
  it("says exactly the built-in defaults", () => {
    const read = readConfig(yaml, { file: "agent.yaml", text })
    assert.deepStrictEqual(read.problems, [])
    assert.deepStrictEqual(read.values, defaults())
  })

  it("holds every key, each below a comment", () => {
    const lines = text.split("\n")
    const keys = (value: object): ReadonlyArray<string> =>
      Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === "object" && inner !== null && !Array.isArray(inner) ? [key, ...keys(inner)] : [key]
      )
    const written = lines.flatMap((line) => /^ *([a-z_]+):/.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(written, keys(defaults()))
    for (const [index, line] of lines.entries()) {
      if (/^ *[a-z_]+:/.test(line)) assert.match(lines[index - 1] ?? "", /^ *# /, line)
    }
  })
})
