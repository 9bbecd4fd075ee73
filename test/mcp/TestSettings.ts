import type { Layer } from "effect"
import type { AppConfig, HttpSettings } from "../../src/config/AppConfig.ts"
import type { Locale } from "../../src/domain/Settings.ts"
import { testConfig, testSettings } from "../support/TestSettings.ts"

export interface SettingsChange {
  readonly locale?: Locale
  readonly dataDir?: string
  readonly ignoredArguments?: ReadonlyArray<string>
  readonly maxTotalBytes?: number
  readonly http?: Partial<HttpSettings>
}

/** The defaults, with what a test of the MCP layer changes. */
export const settingsLayer = (change: SettingsChange = {}): Layer.Layer<AppConfig> => {
  const settings = testSettings(change.dataDir === undefined ? {} : { dataDir: change.dataDir })
  const { mcp } = settings
  return testConfig({
    ...settings,
    locale: change.locale ?? settings.locale,
    mcp: {
      ...mcp,
      images: { ...mcp.images, maxTotalBytes: change.maxTotalBytes ?? mcp.images.maxTotalBytes },
      ignoredArguments: change.ignoredArguments ?? mcp.ignoredArguments,
      http: { ...mcp.http, ...change.http }
    }
  })
}
