import { createHash } from "node:crypto"
import type { SqlError } from "@effect/sql"
import { Clock, Context, Effect, Layer } from "effect"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import { Sql } from "../store/Sql.ts"

/** One row of the table. `hash` covers the body and the row before it. */
export interface AuditRow {
  readonly seq: number
  readonly body: string
  readonly hash: string
}

/** The hash of the row that comes after `previous`; the first one comes after the empty string. */
export const chain = (previous: string, body: string): string =>
  createHash("sha256").update(previous).update("\n").update(body).digest("hex")

/** Who did what, as a hash-chained table. Its rows are never changed and never deleted. */
export class AuditLog extends Context.Tag("sagyo/audit/AuditLog")<
  AuditLog,
  {
    /** Part of the caller's transaction, so that a state and the row that tells of it are one commit. */
    readonly append: (events: ReadonlyArray<AuditEvent>) => Effect.Effect<void, SqlError.SqlError>
    /** Rows after `seq`, in order, at most `limit`. */
    readonly rows: (after: number, limit: number) => Effect.Effect<ReadonlyArray<AuditRow>, SqlError.SqlError>
  }
>() {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const { execute, sql } = yield* Sql
      return {
        append: (events) =>
          Effect.gen(function* () {
            if (events.length === 0) return
            const at = new Date(yield* Clock.currentTimeMillis).toISOString()
            const [last] = yield* execute<AuditRow>("SELECT seq, body, hash FROM audit ORDER BY seq DESC LIMIT 1")
            let { seq, hash } = last ?? { seq: 0, hash: "" }
            for (const event of events) {
              seq += 1
              const body = JSON.stringify({ seq, at, ...event })
              hash = chain(hash, body)
              yield* execute("INSERT INTO audit (seq, body, hash) VALUES (?, ?, ?)", seq, body, hash)
            }
          }),
        rows: (after, limit) =>
          sql<AuditRow>`SELECT seq, body, hash FROM audit WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`
      }
    })
  )
}
