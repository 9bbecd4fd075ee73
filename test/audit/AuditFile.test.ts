import { appendFileSync, existsSync, readFileSync, statSync, truncateSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AuditFile } from "../../src/audit/AuditFile.ts"
import { AuditLog, chain } from "../../src/audit/AuditLog.ts"
import { Sql } from "../../src/store/Sql.ts"
import { testSettings } from "../support/TestSettings.ts"
import { testStore } from "../support/TestStore.ts"

const write = (...reasons: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { immediate } = yield* Sql
    const log = yield* AuditLog
    yield* immediate(log.append(reasons.map((reason) => ({ event: "refused" as const, detail: { reason } }))))
  })
const sync = Effect.flatMap(AuditFile, (file) => file.sync)
const linesOf = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))

const withFile = <A, E>(body: (path: string) => Effect.Effect<A, E, AuditFile | AuditLog | Sql>) => {
  const settings = testSettings()
  return Effect.provide(body(settings.audit.file), testStore(settings))
}

describe("AuditFile", () => {
  it.effect("is written from the table, in order, for its owner alone", () =>
    withFile((path) =>
      Effect.gen(function* () {
        yield* write("a", "b")
        yield* sync
        yield* write("c")
        yield* sync
        assert.deepStrictEqual(
          linesOf(path).map((line) => [line.seq, line.detail.reason]),
          [
            [1, "a"],
            [2, "b"],
            [3, "c"]
          ]
        )
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      })
    )
  )

  it.effect("each line's hash covers its body and the line before", () =>
    withFile((path) =>
      Effect.gen(function* () {
        yield* write("a", "b")
        yield* sync
        let previous = ""
        for (const line of readFileSync(path, "utf8").trimEnd().split("\n")) {
          const { hash } = JSON.parse(line)
          previous = chain(previous, `${line.slice(0, line.lastIndexOf(',"hash":'))}}`)
          assert.strictEqual(hash, previous)
        }
      })
    )
  )

  it.effect("a kill between the line and the mark leaves no line twice and none torn", () =>
    withFile((path) =>
      Effect.gen(function* () {
        yield* write("a")
        yield* sync
        const { sql } = yield* Sql
        const [mark] = yield* sql<{ seq: number; bytes: number }>`SELECT seq, bytes FROM audit_file`
        yield* write("b")
        yield* sync
        yield* sql`UPDATE audit_file SET seq = ${mark!.seq}, bytes = ${mark!.bytes}`
        truncateSync(path, statSync(path).size - 10)
        yield* sync
        assert.deepStrictEqual(
          linesOf(path).map((line) => line.detail.reason),
          ["a", "b"]
        )
      })
    )
  )

  it.effect("a file that was cut is an error and is not mended in silence", () =>
    withFile((path) =>
      Effect.gen(function* () {
        yield* write("a")
        yield* sync
        truncateSync(path, 5)
        yield* write("b")
        const error = yield* Effect.flip(sync)
        assert.strictEqual(error._tag, "AuditFileFailed")
        assert.strictEqual(statSync(path).size, 5)
      })
    )
  )

  it.effect("a file that runs ahead of the table is set aside and written anew", () =>
    withFile((path) =>
      Effect.gen(function* () {
        yield* write("a")
        yield* sync
        appendFileSync(path, '{"seq":2,"event":"of another life"}\n')
        yield* write("b")
        yield* sync
        assert.deepStrictEqual(
          linesOf(path).map((line) => line.detail.reason),
          ["a", "b"]
        )
        assert.isTrue(existsSync(`${path}.1`))
      })
    )
  )
})
