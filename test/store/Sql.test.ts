import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { Cause, Effect, Exit, Fiber, Layer, Option, TestClock } from "effect"
import { APPLICATION_ID, SCHEMA_VERSION } from "../../src/store/migrations/migrate.ts"
import { Sql } from "../../src/store/Sql.ts"
import { temporaryFolder } from "../support/TestSettings.ts"

const file = () => join(temporaryFolder(), "sagyo.db")
const withStore = <A, E>(path: string, body: (store: Sql["Type"]) => Effect.Effect<A, E>) =>
  Effect.provide(
    Effect.gen(function* () {
      const store = yield* Sql
      yield* store.sql`CREATE TABLE IF NOT EXISTS t (x TEXT)`
      return yield* body(store)
    }),
    Sql.layer(path)
  )
const count = ({ sql }: Sql["Type"]) => Effect.map(sql<{ n: number }>`SELECT count(*) n FROM t`, ([row]) => row!.n)
const opened = (path: string) => Effect.exit(Effect.scoped(Layer.build(Sql.layer(path))))
const failureOf = (exit: Exit.Exit<unknown, { readonly _tag: string; readonly reason: string }>) =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined

describe("Sql", () => {
  it.effect("a full disk is a failure with its reason, leaves nothing, and the next write works", () =>
    withStore(file(), (store) =>
      Effect.gen(function* () {
        const [pages] = yield* store.sql.unsafe<{ page_count: number }>("PRAGMA page_count")
        yield* store.sql.unsafe(`PRAGMA max_page_count = ${pages!.page_count + 2}`)
        const error = yield* Effect.flip(store.immediate(store.sql`INSERT INTO t VALUES (zeroblob(100000))`))
        assert.strictEqual(error.reason, "full")
        yield* store.sql`PRAGMA max_page_count = 10000`
        yield* store.immediate(store.sql`INSERT INTO t VALUES ('a')`)
        assert.strictEqual(yield* count(store), 1)
      })
    )
  )

  it.live("another writer is waited for", () => {
    const path = file()
    return withStore(path, (store) =>
      Effect.gen(function* () {
        const other = new Database(path)
        other.exec("BEGIN IMMEDIATE")
        const fiber = yield* Effect.fork(store.immediate(store.sql`INSERT INTO t VALUES ('a')`))
        yield* Effect.yieldNow()
        assert.strictEqual(yield* count(store), 0)
        other.exec("COMMIT")
        other.close()
        yield* Fiber.join(fiber)
        assert.strictEqual(yield* count(store), 1)
      })
    )
  })

  it.effect("an inner failure undoes the inner part alone", () =>
    withStore(file(), (store) =>
      Effect.gen(function* () {
        yield* store.immediate(
          Effect.gen(function* () {
            yield* store.sql`INSERT INTO t VALUES ('outer')`
            yield* Effect.exit(
              store.immediate(Effect.zipRight(store.sql`INSERT INTO t VALUES ('inner')`, Effect.fail("no")))
            )
          })
        )
        assert.strictEqual(yield* count(store), 1)
      })
    )
  )

  it.effect("only what was promised waits for the disk", () =>
    withStore(file(), (store) =>
      Effect.gen(function* () {
        const level = Effect.map(store.sql<{ synchronous: number }>`PRAGMA synchronous`, ([row]) => row!.synchronous)
        const levels = yield* Effect.all([store.unsynced(level), store.immediate(level), store.unsynced(level)])
        assert.deepStrictEqual(levels, [1, 2, 1])
      })
    )
  )

  it.effect("interruption rolls back", () =>
    withStore(file(), (store) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(
          store.immediate(Effect.zipRight(store.sql`INSERT INTO t VALUES ('a')`, Effect.never))
        )
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* count(store), 0)
      })
    )
  )

  it.effect("a start that was killed in its first write does not stop the next one", () =>
    Effect.gen(function* () {
      const path = file()
      const code = `const db = new (require("better-sqlite3"))(process.argv[1]);
        db.exec("CREATE TABLE t (x); PRAGMA cache_size = 1; BEGIN; INSERT INTO t SELECT hex(randomblob(2000)) FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500) SELECT n FROM c)");
        process.kill(process.pid, "SIGKILL")`
      spawnSync(process.execPath, ["-e", code, path])
      assert.isTrue(existsSync(`${path}-journal`), "a hot journal")
      assert.strictEqual(failureOf(yield* opened(path))?.reason, "foreign", "read, and judged by its header")
    })
  )

  it.effect("an empty file becomes ours", () =>
    Effect.gen(function* () {
      const path = file()
      writeFileSync(path, "")
      assert.isTrue(Exit.isSuccess(yield* opened(path)))
      const db = new Database(path, { readonly: true })
      assert.strictEqual(db.pragma("application_id", { simple: true }), APPLICATION_ID)
      assert.strictEqual(db.pragma("user_version", { simple: true }), SCHEMA_VERSION)
      assert.strictEqual(db.pragma("journal_mode", { simple: true }), "wal")
      db.close()
    })
  )

  // E09: the switch to WAL needs the file for itself
  it.effect("a reader that keeps the file from WAL is waited for, and then named as the reason", () =>
    Effect.gen(function* () {
      const path = file()
      yield* opened(path)
      const other = new Database(path)
      other.pragma("journal_mode = DELETE")
      other.exec("BEGIN; SELECT * FROM tasks")
      const opening = yield* Effect.fork(opened(path))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(failureOf(yield* Fiber.join(opening))?.reason, "busy")
      other.close()
      assert.isTrue(Exit.isSuccess(yield* opened(path)))
    })
  )

  for (const [reason, make] of [
    ["foreign", (path: string) => void new Database(path).exec("CREATE TABLE theirs (x)").close()],
    ["foreign", (path: string) => writeFileSync(path, "not a database, but long enough to have a header".repeat(20))],
    [
      "newer",
      (path: string) =>
        void new Database(path)
          .exec(
            `CREATE TABLE t (x); PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION + 1}`
          )
          .close()
    ]
  ] as const) {
    it.effect(`a ${reason} file is refused and left as it was`, () =>
      Effect.gen(function* () {
        const path = file()
        make(path)
        const before = readFileSync(path)
        const failure = failureOf(yield* opened(path))
        assert.deepStrictEqual([failure?._tag, failure?.reason], ["StoreRefused", reason])
        assert.deepStrictEqual(readFileSync(path), before)
      })
    )
  }
})
