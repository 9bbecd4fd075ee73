import { renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { parseTokensFile, sha256, watchTokensFile } from "../../src/mcp/HttpTokensFile.ts"
import { temporaryFolder } from "../support/TestSettings.ts"

const line = (name: string, token = name) => `${name}: ${sha256(token)}`

describe("HttpTokensFile", () => {
  it.effect("reads names and hashes, comments and blank lines, in any case and with any line ends", () =>
    Effect.gen(function* () {
      const text = `# who may\r\n\r\n  ${line("ci.build-1")}\r\n${line("laptop").toUpperCase().replace("LAPTOP", "laptop")}`
      const names = yield* parseTokensFile("t", text)
      assert.deepStrictEqual([...names.values()], ["ci.build-1", "laptop"])
      assert.strictEqual(names.get(sha256("laptop")), "laptop")
    })
  )

  it.effect("what is wrong is refused with file and line", () =>
    Effect.gen(function* () {
      const wrong = [
        ["laptop", "64 hex digits"],
        ["laptop: secret", "64 hex digits"],
        [`a b: ${sha256("x")}`, "64 hex digits"],
        [`${line("a")}\n${line("a", "other")}`, "stands here twice"],
        [`${line("a")}\n${line("b", "a")}`, "is the same"]
      ] as const
      for (const [text, reason] of wrong) {
        const error = yield* Effect.flip(parseTokensFile("/etc/tokens", text))
        assert.include(error.message, reason)
        assert.isTrue(error.message.startsWith(`/etc/tokens:${text.split("\n").length}: `), error.message)
        assert.notInclude(error.message, "secret")
      }
    })
  )

  it.effect("a change counts after a second, and a file that went wrong lets nobody in", () =>
    Effect.gen(function* () {
      const path = join(temporaryFolder(), "tokens")
      const put = (text: string) => {
        writeFileSync(`${path}.new`, text)
        renameSync(`${path}.new`, path)
      }
      put(line("a"))
      const names = yield* watchTokensFile(path)
      const known = Effect.map(names, (all) => [...all.values()])
      assert.deepStrictEqual(yield* known, ["a"])
      put(line("b"))
      assert.deepStrictEqual(yield* known, ["a"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* known, ["b"])
      put("nonsense")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* known, [])
      put(line("c"))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* known, ["c"])
      rmSync(path)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* known, [])
    })
  )

  it.effect("a file that is missing at the start is an error", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(watchTokensFile("/nonexistent/tokens"))
      assert.include(error.message, "mcp.http.tokens_file")
    })
  )
})
