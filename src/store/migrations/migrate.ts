import type { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { initial } from "./0001_initial.ts"

/** Marks the file as ours; SQLite keeps it in the file's header. */
export const APPLICATION_ID = 0x5361_6779 // "Sagy"

/** In order; what has been released is never changed. */
const migrations = [initial]

export const SCHEMA_VERSION = migrations.length

/** Runs inside one transaction, so that a migration that is killed half way never happened. */
export const migrate = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const [row] = yield* sql.unsafe<{ user_version: number }>("PRAGMA user_version")
    const from = row?.user_version ?? 0
    if (from >= SCHEMA_VERSION) return
    yield* sql.unsafe(`PRAGMA application_id = ${APPLICATION_ID}`)
    for (const statement of migrations.slice(from).flat()) yield* sql.unsafe(statement)
    yield* sql.unsafe(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  })
