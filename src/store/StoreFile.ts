import { existsSync } from "node:fs"
import Database from "better-sqlite3"
import { Effect, Predicate, Schema } from "effect"
import { APPLICATION_ID, SCHEMA_VERSION } from "./migrations/migrate.ts"

/** The file is there and is not ours, newer than this program, or damaged. It was not touched. */
export class StoreRefused extends Schema.TaggedError<StoreRefused>()("StoreRefused", {
  path: Schema.String,
  reason: Schema.Literal("foreign", "newer", "damaged")
}) {
  /** What is wrong and what mends it. */
  override get message(): string {
    return `${this.path} ${mends[this.reason]}`
  }
}

const mends = {
  foreign: "is not a database of this program: move it away, or set data_dir to another folder",
  newer: "was written by a newer version of this program: install that version",
  damaged: "is damaged: put a backup in its place while nothing runs"
}

/** Looks at the header before anything writes, so that a file that is not ours stays as it is. */
export const refuseUnlessOurs = (path: string): Effect.Effect<void, StoreRefused> =>
  Effect.suspend(() => {
    const reason = existsSync(path) ? look(path) : undefined
    return reason === undefined ? Effect.void : Effect.fail(new StoreRefused({ path, reason }))
  })

const look = (path: string, readonly = true): StoreRefused["reason"] | undefined => {
  try {
    const db = new Database(path, { readonly, timeout: 250 })
    try {
      const is = (name: string) => Number(db.pragma(name, { simple: true }))
      if (is("schema_version") === 0) return undefined // empty: a start that was cut short
      if (is("application_id") !== APPLICATION_ID) return "foreign"
      return is("user_version") > SCHEMA_VERSION ? "newer" : undefined
    } finally {
      db.close()
    }
  } catch (cause) {
    const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
    if (code === "SQLITE_NOTADB") return "foreign"
    if (code.startsWith("SQLITE_CORRUPT")) return "damaged"
    // a start that was killed in its first write left a journal; only a writer can roll it back
    if (readonly && /^SQLITE_READONLY_(ROLLBACK|RECOVERY|CANTINIT|DIRECTORY)$/.test(code)) return look(path, false)
    // what remains (busy, no permission) is for the real opening to say
    return undefined
  }
}
