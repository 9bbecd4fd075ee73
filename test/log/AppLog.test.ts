import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FiberRef, HashSet, Layer } from "effect"
import { AppConfig, type Settings } from "../../src/config/AppConfig.ts"
import { loadSettings } from "../../src/config/LoadSettings.ts"
import { AppLog } from "../../src/log/AppLog.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sagyo-log-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const layer = (log: Settings["log"]) =>
  Layer.provide(
    AppLog.layer,
    Layer.effect(
      AppConfig,
      loadSettings({
        flags: {},
        env: {},
        cwd: "/",
        home: "/home/nobody",
        tmp: "/tmp",
        platform: "linux",
        packageRoot: null
      }).pipe(
        Effect.map((settings) => ({ ...settings, log })),
        Effect.orDie
      )
    )
  )

const entries = (file: string): ReadonlyArray<Record<string, unknown>> =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

describe("AppLog", () => {
  it.scoped("writes what the program logs, from its level on, to a file that is its owner's alone", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "sagyo.log")
      yield* Effect.gen(function* () {
        yield* Effect.logDebug("too quiet")
        yield* Effect.logInfo("started", { task: "t1" }).pipe(
          Effect.annotateLogs("session", "s1"),
          Effect.withLogSpan("turn")
        )
        yield* Effect.logError("broken", new Error("why"))
      }).pipe(Effect.provide(layer({ level: "info", file })))
      const [started, broken, ...others] = entries(file)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(started, { level: "info", message: "started", annotations: { session: "s1", task: "t1" } })
      assert.match(String(started?.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.isNumber((started?.spans as Record<string, unknown> | undefined)?.turn)
      assert.include(String(broken?.message), "why")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    })
  )

  it.scoped("writes nothing at level off, and appends to what a file has", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "sagyo.log")
      writeFileSync(file, '{"before":true}\n')
      yield* Effect.logFatal("unheard").pipe(Effect.provide(layer({ level: "off", file })))
      yield* Effect.logWarning("heard").pipe(Effect.provide(layer({ level: "warn", file })))
      assert.deepStrictEqual(
        entries(file).map((entry) => entry.message ?? entry.before),
        [true, "heard"]
      )
    })
  )

  it.scoped("takes the place of the logger that was there before the settings were known", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "sagyo.log")
      const loggers = Effect.logWarning("once").pipe(Effect.zipRight(FiberRef.get(FiberRef.currentLoggers)))
      const early = FiberRef.get(FiberRef.currentLoggers).pipe(Effect.provide(AppLog.layerEarly))
      const both = loggers.pipe(Effect.provide(layer({ level: "info", file })), Effect.provide(AppLog.layerEarly))
      assert.strictEqual(HashSet.size(yield* both), HashSet.size(yield* early))
      assert.strictEqual(entries(file).length, 1)
    })
  )

  it.scoped("keeps a secret that it was told out of every later entry", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "sagyo.log")
      yield* Effect.gen(function* () {
        const log = yield* AppLog
        yield* log.hide("s3cr3t-token-value")
        yield* log.hide("a")
        yield* Effect.logInfo("got s3cr3t-token-value", { "s3cr3t-token-value": ["x s3cr3t-token-value y"] })
        yield* Effect.logError("failed", new Error("for s3cr3t-token-value"))
      }).pipe(Effect.provide(layer({ level: "info", file })))
      assert.notInclude(readFileSync(file, "utf8"), "s3cr3t")
      assert.strictEqual(entries(file)[0]?.message, "got [hidden]")
    })
  )

  it.scoped("says what is wrong with a file that cannot be written", () =>
    Effect.gen(function* () {
      const root = yield* folder
      symlinkSync("/nowhere/at/all", join(root, "link"))
      for (const file of [join(root, "missing", "x.log"), root, join(root, "link")]) {
        const result = yield* Effect.void.pipe(Effect.provide(layer({ level: "info", file })), Effect.either)
        assert.match(
          Either.isLeft(result) ? result.left.message : "accepted",
          /^log\.file: \/.* cannot be written: /,
          file
        )
      }
    })
  )
})
