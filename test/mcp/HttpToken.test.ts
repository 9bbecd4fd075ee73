import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ownerToken } from "../../src/mcp/HttpToken.ts"
import { temporaryFolder } from "../support/TestSettings.ts"

describe("HttpToken", () => {
  it.live("the file is made once, for the owner alone, and then read", () =>
    Effect.gen(function* () {
      const dataDir = join(temporaryFolder(), "data")
      const token = yield* ownerToken(dataDir)
      assert.match(token, /^[\w-]{43}$/)
      assert.strictEqual(readFileSync(join(dataDir, "token"), "utf8").trim(), token)
      assert.strictEqual(statSync(join(dataDir, "token")).mode & 0o777, 0o600)
      assert.strictEqual(statSync(dataDir).mode & 0o777, 0o700)
      assert.strictEqual(yield* ownerToken(dataDir), token)
      assert.deepStrictEqual(readdirSync(dataDir), ["token"])
    })
  )

  it.live("all who come at the same time read the same token", () =>
    Effect.gen(function* () {
      const dataDir = temporaryFolder()
      const tokens = yield* Effect.all(
        Array.from({ length: 50 }, () => ownerToken(dataDir)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(tokens).size, 1)
      assert.deepStrictEqual(readdirSync(dataDir), ["token"])
    })
  )

  it.live("a file that others may read is closed to them", () =>
    Effect.gen(function* () {
      const dataDir = temporaryFolder()
      writeFileSync(join(dataDir, "token"), "0123456789abcdef\n")
      chmodSync(join(dataDir, "token"), 0o644)
      assert.strictEqual(yield* ownerToken(dataDir), "0123456789abcdef")
      assert.strictEqual(statSync(join(dataDir, "token")).mode & 0o777, 0o600)
    })
  )

  it.live("a file without a token in it is refused, and left as it is", () =>
    Effect.gen(function* () {
      for (const content of ["", "\n", "short", "two words that are long"]) {
        const dataDir = temporaryFolder()
        writeFileSync(join(dataDir, "token"), content)
        const error = yield* Effect.flip(ownerToken(dataDir))
        assert.include(error.reason.en, "Delete it")
        assert.strictEqual(readFileSync(join(dataDir, "token"), "utf8"), content)
      }
    })
  )

  it.live("a folder that cannot be made is an error in words", () =>
    Effect.gen(function* () {
      const folder = temporaryFolder()
      writeFileSync(join(folder, "file"), "")
      const error = yield* Effect.flip(ownerToken(join(folder, "file")))
      assert.include(error.message, "cannot be made or read")
      mkdirSync(join(folder, "token", "x"), { recursive: true })
      assert.include((yield* Effect.flip(ownerToken(folder))).message, "cannot be made or read")
      assert.isFalse(existsSync(join(folder, ".token")))
    })
  )
})
