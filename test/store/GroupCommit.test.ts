import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { makeGroupCommit } from "../../src/store/GroupCommit.ts"
import { Sql } from "../../src/store/Sql.ts"
import { temporaryFolder } from "../support/TestSettings.ts"

const withGroup = <A, E>(
  body: (
    store: Sql["Type"],
    run: <B, F>(effect: Effect.Effect<B, F>) => Effect.Effect<B, unknown>
  ) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const store = yield* Sql
    yield* store.sql`CREATE TABLE t (x TEXT)`
    const group = yield* makeGroupCommit(store.immediate)
    return yield* body(store, (effect) => group.run(effect))
  }).pipe(Effect.provide(Sql.layer(join(temporaryFolder(), "sagyo.db"))), Effect.scoped)

const rows = ({ sql }: Sql["Type"]) => Effect.map(sql<{ x: string }>`SELECT x FROM t`, (all) => all.map(({ x }) => x))

describe("GroupCommit", () => {
  it.effect("each gets its own answer, refusals too", () =>
    withGroup((store, run) =>
      Effect.gen(function* () {
        const insert = (x: string) => Effect.as(store.sql`INSERT INTO t VALUES (${x})`, x)
        const answers = yield* Effect.all([run(insert("a")), Effect.flip(run(Effect.fail("full"))), run(insert("b"))], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(answers, ["a", "full", "b"])
        assert.deepStrictEqual(yield* rows(store), ["a", "b"])
      })
    )
  )

  it.effect("a defect after a write leaves nothing, and those who come later are served", () =>
    withGroup((store, run) =>
      Effect.gen(function* () {
        const insert = (x: string) => store.sql`INSERT INTO t VALUES (${x})`
        const exit = yield* Effect.exit(run(Effect.zipRight(insert("a"), Effect.die("boom"))))
        assert.isTrue(Exit.isFailure(exit))
        yield* run(insert("b"))
        assert.deepStrictEqual(yield* rows(store), ["b"])
      })
    )
  )
})
