import { spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { RunnerLock } from "../../src/store/RunnerLock.ts"

const file = () => join(mkdtempSync(join(tmpdir(), "runner-lock-")), "runner.db")
const lockOn = (path: string) => Effect.provide(RunnerLock, RunnerLock.layer(path, "10 millis"))

describe("RunnerLock", () => {
  it.scoped("one holder at a time, over connections that share nothing", () =>
    Effect.gen(function* () {
      const path = file()
      const [mine, yours] = [yield* lockOn(path), yield* lockOn(path)]
      const scope = yield* Scope.make()
      assert.isTrue(yield* Scope.extend(mine.tryAcquire, scope))
      assert.isFalse(yield* yours.tryAcquire)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* yours.tryAcquire)
    })
  )

  it.live("a holder that is killed lets go; one that is stopped does not", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const path = file()
        const lock = yield* lockOn(path)
        const child = yield* holderProcess(path)
        child.kill("SIGSTOP")
        assert.isFalse(yield* lock.tryAcquire)
        const waiting = yield* Effect.fork(lock.acquire)
        child.kill("SIGKILL")
        yield* Fiber.join(waiting).pipe(Effect.timeout("5 seconds"))
      })
    )
  )

  it.live("waiting can be interrupted", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const path = file()
        const lock = yield* lockOn(path)
        yield* holderProcess(path)
        const exit = yield* Effect.fork(lock.acquire).pipe(Effect.flatMap(Fiber.interrupt))
        assert.isTrue(Exit.isInterrupted(exit))
      })
    )
  )

  it.scoped("a folder that is not there is an error with SQLite's reason", () =>
    Effect.gen(function* () {
      const lock = yield* lockOn("/no/such/folder/runner.db")
      const error = yield* Effect.flip(lock.tryAcquire)
      assert.strictEqual(error._tag, "RunnerLockUnavailable")
      assert.match(error.reason, /directory does not exist/)
    })
  )
})

/** Another process that holds the lock, once it has said so. */
const holderProcess = (path: string) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof spawn>>((resume) => {
      const code = `const db = new (require("better-sqlite3"))(process.argv[1]); db.exec("BEGIN EXCLUSIVE"); console.log("held"); setInterval(() => {}, 1e6)`
      const child = spawn(process.execPath, ["-e", code, path], { stdio: ["ignore", "pipe", "inherit"] })
      child.stdout!.once("data", () => resume(Effect.succeed(child)))
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
