import { mkdtempSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Layer } from "effect"
import { AppConfig, type Settings } from "../../src/config/AppConfig.ts"

/** A new folder whose path has no symlink in it. */
export const temporaryFolder = (name = "sagyo-test-"): string => realpathSync(mkdtempSync(join(tmpdir(), name)))

/** The defaults, in a data folder and a workspace of their own. */
export const testSettings = (overrides: Partial<Settings> = {}): Settings => {
  const dataDir = overrides.dataDir ?? temporaryFolder()
  return {
    file: null,
    dataDir,
    locale: "ja",
    notices: [],
    task: {
      locale: "ja",
      workspace: temporaryFolder("sagyo-workspace-"),
      hidden: [dataDir],
      ollama: {
        baseUrl: "http://127.0.0.1:1",
        model: "qwen3:8b",
        temperature: null,
        numCtx: 16384,
        keepAlive: 600_000,
        think: "auto",
        allowRemote: false
      },
      agent: { planning: "off", maxTurns: 50, maxDuration: 1_800_000, maxTokens: null, onRestart: "resume" },
      tools: {
        approval: "never",
        approvalTimeout: 300_000,
        rules: [],
        shell: { enabled: true, sandbox: "auto", network: false, timeout: 120_000, env: [] }
      }
    },
    mcp: {
      images: { maxCount: 4, maxBytes: 10 * 2 ** 20, maxTotalBytes: 20 * 2 ** 20 },
      tasks: { ttl: 7 * 86_400_000, pollInterval: 1000, maxQueued: 1000 },
      ignoredArguments: [],
      http: {
        host: "127.0.0.1",
        port: 0,
        basePath: "",
        auth: "token",
        tokensFile: null,
        maxConnections: 1000,
        allowRemote: false,
        allowedHosts: [],
        allowedOrigins: []
      }
    },
    store: { sessionMaxAge: 90 * 86_400_000, sessionMaxCount: 10_000 },
    log: { level: "info", file: null },
    audit: { file: join(dataDir, "audit.jsonl") },
    ...overrides
  }
}

export const testConfig = (settings: Settings) => Layer.succeed(AppConfig, settings)
