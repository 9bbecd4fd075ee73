import { SqlClient, type SqlConnection, SqlError } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import Database from "better-sqlite3"
import { Context, Effect, Layer, Option, Predicate, Schedule, Scope } from "effect"
import { migrate } from "./migrations/migrate.ts"
import { StoreFailed } from "./StoreFailed.ts"
import { refuseUnlessOurs } from "./StoreFile.ts"

/** SQLite's failures become `StoreFailed`; all others stay as they are. */
type InWords = <A, E, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, Exclude<E, SqlError.SqlError> | StoreFailed, R>

/** SQLite as the store needs it: looked at before it is opened for writing, and transactions that fail in words. */
export class Sql extends Context.Tag("sagyo/store/Sql")<
  Sql,
  {
    readonly sql: SqlClient.SqlClient
    /**
     * A prepared statement by its text, in the transaction around it or alone, without what `sql` does for each of its
     * statements (compiling it, a span): measured, a quarter of the cost. For what every request does.
     */
    readonly execute: <Row>(
      statement: string,
      ...params: ReadonlyArray<string | number | null | Uint8Array>
    ) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
    /**
     * A prepared read of what is committed, on a connection of its own, so that it never waits for a writer here: not for
     * a transaction, which would not see its own writes.
     */
    readonly look: <Row>(
      statement: string,
      ...params: ReadonlyArray<string | number | null>
    ) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
    /**
     * BEGIN IMMEDIATE … COMMIT, on disk when it returns; inside another, a savepoint. Nothing of it stays when it
     * fails or is interrupted. Another writer is waited for, for about three seconds.
     */
    readonly immediate: InWords
    /**
     * As `immediate`, but it waits for no disk: what it wrote outlives this process, while a power failure may take it
     * back. For what has been promised to nobody.
     */
    readonly unsynced: InWords
    /** Reads outside a transaction. They wait, too, while another process recovers the file or closes it as the last one. */
    readonly read: InWords
  }
>() {
  /** Opens the file, makes it if it is not there, and brings its schema up to date. */
  static readonly layer = (path: string) =>
    Layer.unwrapEffect(
      Effect.as(refuseUnlessOurs(path), Layer.scoped(Sql, make(path)).pipe(Layer.provide(client(path))))
    )
}

// a path that cannot be opened is an error here, where SqliteClient dies of it
const client = (path: string) =>
  SqliteClient.layer({ filename: path, disableWAL: true }).pipe(
    Layer.catchAllCause((cause) => Layer.fail(new StoreFailed({ reason: "io", cause })))
  )

const open = Effect.fnUntraced(function* (path: string) {
  const sql = yield* SqlClient.SqlClient
  // set before anything that may wait: it blocks the thread, so it is short, and the rest of a wait is between tries
  yield* sql.unsafe("PRAGMA busy_timeout = 20")
  yield* useWal(sql)
  yield* sql.unsafe("PRAGMA foreign_keys = ON")
  const writing = (level: "FULL" | "NORMAL"): InWords => {
    const transaction = transactionOn(sql, level)
    return (effect) =>
      Effect.flatMap(Effect.serviceOption(SqlClient.TransactionConnection), (outer) =>
        inWords(
          Option.isSome(outer)
            ? transaction(effect)
            : waitWhileBusy(transaction(Effect.zipLeft(effect, Effect.uninterruptible(sql.unsafe("COMMIT")))))
        )
      )
  }
  const execute = <Row>(statement: string, ...params: ReadonlyArray<string | number | null | Uint8Array>) => {
    const on = (conn: SqlConnection.Connection) =>
      conn.execute(statement, params, undefined) as Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
    return Effect.flatMap(
      Effect.serviceOption(SqlClient.TransactionConnection),
      Option.match({ onNone: () => Effect.scoped(Effect.flatMap(sql.reserve, on)), onSome: ([conn]) => on(conn) })
    )
  }
  const immediate = writing("FULL")
  yield* immediate(migrate(sql))
  return Sql.of({
    sql,
    execute,
    look: yield* lookingAt(path),
    immediate,
    unsynced: writing("NORMAL"),
    read: (effect) => inWords(waitWhileBusy(effect))
  })
})

const make = (path: string) => inWords(open(path))

const lookingAt = (path: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => new Database(path, { readonly: true, timeout: 20 }),
      catch: (cause) => new SqlError.SqlError({ cause, message: "Failed to open a connection for reading" })
    }),
    (db) => Effect.sync(() => db.close())
  ).pipe(
    Effect.map((db) => {
      const prepared = new Map<string, Database.Statement>()
      const prepare = (statement: string) => {
        const ready = prepared.get(statement) ?? db.prepare(statement)
        prepared.set(statement, ready)
        return ready
      }
      return <Row>(statement: string, ...params: ReadonlyArray<string | number | null>) =>
        Effect.try({
          try: () => prepare(statement).all(...params) as ReadonlyArray<Row>,
          catch: (cause) => new SqlError.SqlError({ cause, message: "Failed to execute statement" })
        })
    })
  )

/** The mode is checked, since a file that others hold open, or a network folder, silently keeps its own. */
const useWal = (sql: SqlClient.SqlClient) =>
  waitWhileBusy(sql.unsafe<{ journal_mode: string }>("PRAGMA journal_mode = WAL")).pipe(
    Effect.tap(([row]) =>
      row?.journal_mode === "wal"
        ? Effect.void
        : Effect.logWarning(`the database works in rollback mode: WAL was refused, mode is ${row?.journal_mode}`)
    )
  )

const transactionOn = (sql: SqlClient.SqlClient, level: "FULL" | "NORMAL") =>
  SqlClient.makeWithTransaction({
    transactionTag: SqlClient.TransactionConnection,
    spanAttributes: [],
    acquireConnection: Effect.flatMap(Scope.make(), (scope) =>
      Effect.map(Scope.extend(sql.reserve, scope), (conn) => [scope, conn] as const)
    ),
    // the level cannot change inside a transaction, and in WAL mode decides whether a commit waits for the disk
    begin: (conn) => Effect.zipRight(run(conn, `PRAGMA synchronous = ${level}`), run(conn, "BEGIN IMMEDIATE")),
    savepoint: (conn, id) => run(conn, `SAVEPOINT s${id}`),
    commit: () => Effect.void, // it dies when this fails: COMMIT is the last step of the effect instead
    rollback: (conn) => Effect.ignore(run(conn, "ROLLBACK")), // SQLite has rolled back by itself when the disk is full
    rollbackSavepoint: (conn, id) => Effect.ignore(run(conn, `ROLLBACK TO s${id}`))
  })

// not prepared once for all: a PRAGMA is carried out when it is compiled, and that is also where it may throw
const run = (conn: SqlConnection.Connection, statement: string) =>
  Effect.try({
    try: () => conn.executeUnprepared(statement, [], undefined),
    catch: (cause) => new SqlError.SqlError({ cause, message: statement })
  }).pipe(Effect.flatten, Effect.asVoid)

const waitWhileBusy = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, {
    while: (error) => reasonOf(error) === "busy",
    schedule: Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(60))
  })

/** SQLite's own failures by what a caller would do; a statement that is wrong is a broken invariant. */
const inWords: InWords = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchAll(effect, (error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | StoreFailed> => {
    if (!(error instanceof SqlError.SqlError)) return Effect.fail(error as Exclude<E, SqlError.SqlError>)
    const reason = reasonOf(error)
    return reason === undefined ? Effect.die(error) : Effect.fail(new StoreFailed({ reason, cause: error }))
  })

const reasonOf = (error: unknown): StoreFailed["reason"] | undefined => {
  if (!(error instanceof SqlError.SqlError) || !Predicate.hasProperty(error.cause, "code")) return undefined
  const code = String(error.cause.code)
  if (code === "SQLITE_FULL") return "full"
  if (code.startsWith("SQLITE_READONLY")) return "readonly"
  if (code.startsWith("SQLITE_BUSY") || code === "SQLITE_LOCKED") return "busy"
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") return "damaged"
  return /^SQLITE_(IOERR|CANTOPEN|PERM|NOLFS)/.test(code) ? "io" : undefined
}
