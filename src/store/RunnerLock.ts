import Database from "better-sqlite3"
import { Context, Duration, Effect, Layer, Option, Schedule, Schema, type Scope } from "effect"

/** The lock file could not be opened or written: the reason is SQLite's own. */
export class RunnerLockUnavailable extends Schema.TaggedError<RunnerLockUnavailable>()("RunnerLockUnavailable", {
  path: Schema.String,
  reason: Schema.String
}) {}

/**
 * Who may run tasks, over all processes that share a data folder.
 *
 * The holder keeps an EXCLUSIVE transaction open on a file of its own. The kernel releases
 * it when the process dies, however it dies, so there is no heartbeat and no clock.
 */
export class RunnerLock extends Context.Tag("sagyo/store/RunnerLock")<
  RunnerLock,
  {
    /** Takes the lock for the life of the scope, or says that another process has it. */
    readonly tryAcquire: Effect.Effect<boolean, RunnerLockUnavailable, Scope.Scope>
    /** Waits for the lock; interruption leaves nothing behind. */
    readonly acquire: Effect.Effect<void, RunnerLockUnavailable, Scope.Scope>
  }
>() {
  static readonly layer = (path: string, poll: Duration.DurationInput = "250 millis") =>
    Layer.succeed(RunnerLock, make(path, Duration.decode(poll)))
}

const make = (path: string, poll: Duration.Duration): Context.Tag.Service<RunnerLock> => {
  const hold = Effect.try({
    try: () => lockFile(path),
    catch: (cause) => new RunnerLockUnavailable({ path, reason: String(cause) })
  })
  const tryAcquire = hold.pipe(
    Effect.tap(
      Option.match({
        onNone: () => Effect.void, // nothing to release, so that waiting long adds nothing to the scope
        onSome: (db) => Effect.addFinalizer(() => Effect.sync(() => db.close()))
      })
    ),
    Effect.uninterruptible
  )
  return {
    tryAcquire: Effect.map(tryAcquire, Option.isSome),
    acquire: tryAcquire.pipe(
      Effect.repeat({ until: Option.isSome, schedule: Schedule.spaced(poll) }),
      Effect.asVoid,
      Effect.withSpan("RunnerLock.acquire")
    )
  }
}

/** None where another connection holds the file; throws for anything else. */
const lockFile = (path: string): Option.Option<Database.Database> => {
  const db = new Database(path, { timeout: 0 })
  try {
    db.pragma("journal_mode = DELETE") // in WAL mode EXCLUSIVE does not keep readers out
    db.exec("BEGIN EXCLUSIVE")
    return Option.some(db)
  } catch (cause) {
    db.close()
    if (cause instanceof Database.SqliteError && cause.code.startsWith("SQLITE_BUSY")) return Option.none()
    throw cause
  }
}
