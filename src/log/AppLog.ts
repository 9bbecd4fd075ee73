import { Context, Effect, FiberRef, HashSet, Layer, Logger, LogLevel } from "effect"
import { AppConfig, type Settings } from "../config/AppConfig.ts"
import { ConfigInvalid } from "../config/ConfigInvalid.ts"
import { entryLine } from "./LogEntry.ts"
import { fileSink, type LogSink, stderrSink } from "./LogSink.ts"

/** The application's log: what `Effect.log*` writes becomes JSON lines on stderr or in `log.file`, never on stdout. */
export class AppLog extends Context.Tag("sagyo/log/AppLog")<
  AppLog,
  {
    /** Keeps a secret (a token, a password) out of every later entry, wherever it turns up. */
    readonly hide: (secret: string) => Effect.Effect<void>
  }
>() {
  /** Takes the place of every other logger; fails where `log.file` cannot be written. */
  static readonly layer: Layer.Layer<AppLog, ConfigInvalid, AppConfig> = Layer.scoped(
    AppLog,
    Effect.gen(function* () {
      const { log } = yield* AppConfig
      return yield* install(log.level, log.file === null ? stderrSink() : yield* openFile(log.file))
    })
  )

  /** For what happens before the settings are known: everything from `warn` on, to stderr. */
  static readonly layerEarly: Layer.Layer<AppLog> = Layer.scoped(
    AppLog,
    Effect.suspend(() => install("warn", stderrSink()))
  )

  /** The options of `runMain` that keep it from logging to stdout itself. */
  static readonly quietMain = { disablePrettyLogger: true, disableErrorReporting: true } as const
}

const levels: Readonly<Record<Settings["log"]["level"], LogLevel.LogLevel>> = {
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warn: LogLevel.Warning,
  error: LogLevel.Error,
  off: LogLevel.None
}

const openFile = (path: string) =>
  Effect.mapError(fileSink(path), (words) => new ConfigInvalid({ problems: [`log.file: ${words}`] }))

// A shorter one would hide ordinary words.
const shortestSecret = 6

/** Every logger made here, so that a later one takes the place of an earlier one. */
const ours = new WeakSet<object>()

const install = Effect.fnUntraced(function* (level: Settings["log"]["level"], sink: LogSink) {
  const secrets = new Set<string>()
  const logger = Logger.make((options) => sink.write(entryLine(options, secrets)))
  ours.add(logger)
  yield* Effect.locallyScopedWith(FiberRef.currentLoggers, (loggers) =>
    HashSet.add(
      HashSet.filter(loggers, (each) => each !== Logger.defaultLogger && !ours.has(each)),
      logger
    )
  )
  yield* Effect.locallyScoped(FiberRef.currentMinimumLogLevel, levels[level])
  return AppLog.of({
    hide: (secret) => Effect.sync(() => void (secret.length >= shortestSecret && secrets.add(secret)))
  })
})
