import { Context, Effect, Layer } from "effect"
import type { Locale, TaskSettings } from "../domain/Settings.ts"
import type { ConfigInvalid } from "./ConfigInvalid.ts"
import { loadSettings } from "./LoadSettings.ts"
import { type ConfigFlags, processSources } from "./Sources.ts"

/** Bounds on the images of one request. All bytes are decoded bytes. */
export interface ImageLimits {
  readonly maxCount: number
  readonly maxBytes: number
  readonly maxTotalBytes: number
}

export interface HttpSettings {
  readonly host: string
  readonly port: number
  readonly basePath: string
  readonly auth: "token" | "none"
  readonly tokensFile: string | null
  readonly maxConnections: number
  readonly allowRemote: boolean
  readonly allowedHosts: ReadonlyArray<string>
  readonly allowedOrigins: ReadonlyArray<string>
}

/** The settings in use, after flags, environment and file. Sizes are bytes, durations milliseconds, paths absolute. */
export interface Settings {
  /** The settings file that was read, null where there was none. */
  readonly file: string | null
  readonly dataDir: string
  readonly locale: Locale
  /** What the log says once at start, such as a workspace that was not the current folder. */
  readonly notices: ReadonlyArray<string>
  /** What each task is accepted with. */
  readonly task: TaskSettings
  readonly mcp: {
    readonly images: ImageLimits
    readonly tasks: { readonly ttl: number; readonly pollInterval: number; readonly maxQueued: number }
    readonly ignoredArguments: ReadonlyArray<string>
    readonly http: HttpSettings
  }
  readonly store: { readonly sessionMaxAge: number; readonly sessionMaxCount: number }
  readonly log: { readonly level: "trace" | "debug" | "info" | "warn" | "error" | "off"; readonly file: string | null }
  readonly audit: { readonly file: string }
}

export class AppConfig extends Context.Tag("sagyo/config/AppConfig")<AppConfig, Settings>() {
  /** Reads flags, environment and settings file; fails with all problems at once. Creates and writes nothing. */
  static readonly layer = (flags: ConfigFlags): Layer.Layer<AppConfig, ConfigInvalid> =>
    Layer.effect(
      AppConfig,
      Effect.suspend(() => loadSettings(processSources(flags)))
    )
}
