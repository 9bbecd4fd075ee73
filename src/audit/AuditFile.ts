import { existsSync } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname } from "node:path"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { Sql } from "../store/Sql.ts"
import { StoreChanges } from "../store/StoreChanges.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { AuditLog, type AuditRow } from "./AuditLog.ts"

/** The file could not be written. The rows are safe in the table; the next try goes on where this one stopped. */
export class AuditFileFailed extends Schema.TaggedError<AuditFileFailed>()("AuditFileFailed", {
  path: Schema.String,
  reason: Schema.String
}) {}

/** A row as a line of the file: its body with the hash as the last member. */
export const lineOf = (row: AuditRow): string => `${row.body.slice(0, -1)},"hash":"${row.hash}"}\n`

const ROWS_AT_A_TIME = 1000
const PAUSE = "250 millis"

/** The JSON Lines file that is written from the table, in order, by whoever holds the runner's place. */
export class AuditFile extends Context.Tag("sagyo/audit/AuditFile")<
  AuditFile,
  {
    /** Writes what the table has and the file has not; on disk when it returns. */
    readonly sync: Effect.Effect<void, AuditFileFailed | StoreFailed>
    /** Keeps the file up to date for as long as it runs; failures are logged and tried again at the next change. */
    readonly follow: Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    AuditFile,
    Effect.gen(function* () {
      const { audit } = yield* AppConfig
      const { sql, unsynced, read } = yield* Sql
      const log = yield* AuditLog
      const changes = yield* StoreChanges
      const oneAtATime = yield* Effect.makeSemaphore(1)
      const path = audit.file

      const foreign = <A>(act: () => Promise<A>) =>
        Effect.tryPromise({ try: act, catch: (cause) => new AuditFileFailed({ path, reason: String(cause) }) })

      const mark = read(sql<{ seq: number; bytes: number }>`SELECT seq, bytes FROM audit_file WHERE id = 1`).pipe(
        Effect.map(([row]) => row ?? { seq: 0, bytes: 0 })
      )
      // a mark that a power failure takes back costs nothing: the lines behind it are known again
      const setMark = (seq: number, bytes: number) =>
        unsynced(sql`UPDATE audit_file SET seq = ${seq}, bytes = ${bytes} WHERE id = 1`)

      /** One batch; true where there may be more. */
      const step = Effect.gen(function* () {
        const from = yield* mark
        const rows = yield* read(log.rows(from.seq, ROWS_AT_A_TIME))
        const last = rows.at(-1)
        if (last === undefined) return false
        const lines = Buffer.from(rows.map(lineOf).join(""))
        const tail = yield* foreign(() => tailOf(path, from.bytes))
        if (tail === "short") {
          return yield* new AuditFileFailed({
            path,
            reason: `it ends before byte ${from.bytes}, which was written: it was cut`
          })
        }
        const more = rows.length === ROWS_AT_A_TIME
        if (!continues(tail, lines, more)) {
          // the file tells of what the table does not know: the database was restored from a backup
          const aside = yield* foreign(() => setAside(path))
          yield* Effect.logWarning(`the audit file runs ahead of the database: it was set aside as ${aside}`)
          yield* setMark(0, 0)
          return true
        }
        if (tail.length < lines.length) yield* foreign(() => append(path, lines.subarray(tail.length)))
        yield* setMark(last.seq, from.bytes + lines.length)
        return more
      })
      const sync = oneAtATime
        .withPermits(1)(Effect.repeat(step, { while: (more) => more }))
        .pipe(Effect.asVoid)
      return {
        sync,
        follow: changes.any.pipe(
          Stream.runForEach(() =>
            Effect.catchAllCause(sync, (cause) => Effect.logError("audit file", cause)).pipe(
              // each pass waits for the disk: what comes meanwhile shares the next one
              Effect.zipRight(Effect.sleep(PAUSE))
            )
          )
        )
      }
    })
  )
}

const tailOf = async (path: string, from: number): Promise<Buffer | "short"> => {
  if (!existsSync(path)) return from === 0 ? Buffer.alloc(0) : "short"
  const file = await fs.open(path, "r")
  try {
    const { size } = await file.stat()
    if (size < from) return "short"
    const tail = Buffer.alloc(size - from)
    await file.read(tail, 0, tail.length, from)
    return tail
  } finally {
    await file.close()
  }
}

/** Whether `tail` is a beginning of what is to be written: what a kill between write and mark leaves. */
const continues = (tail: Buffer, lines: Buffer, more: boolean): boolean => {
  const common = Math.min(lines.length, tail.length)
  return (more || tail.length <= lines.length) && lines.subarray(0, common).equals(tail.subarray(0, common))
}

const append = async (path: string, bytes: Uint8Array): Promise<void> => {
  await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await fs.open(path, "a", 0o600)
  try {
    await file.writeFile(bytes)
    await file.datasync()
  } finally {
    await file.close()
  }
}

const setAside = async (path: string): Promise<string> => {
  for (let n = 1; ; n++) {
    const aside = `${path}.${n}`
    if (existsSync(aside)) continue
    await fs.rename(path, aside)
    return aside
  }
}
