import { Effect, Either } from "effect"
import type { HttpSettings, Settings } from "./AppConfig.ts"
import { type ConfigText, findConfigFile } from "./ConfigFile.ts"
import { ConfigInvalid } from "./ConfigInvalid.ts"
import { nothingRead, type ReadConfig, readConfig, readPlain } from "./ConfigReader.ts"
import { type ConfigValues, rules } from "./ConfigSchema.ts"
import type { ConfigPath } from "./ConfigTree.ts"
import { chooseFolders } from "./Folders.ts"
import { isLoopback, listenHost } from "./Network.ts"
import { ollamaHost } from "./OllamaHost.ts"
import { decided, type Reading, variable } from "./Reading.ts"
import type { Sources } from "./Sources.ts"

/** The settings from flags, environment and file, or all that is wrong with them. Nothing is created or written. */
export const loadSettings = Effect.fn("AppConfig.load")(function* (sources: Sources) {
  const found = findConfigFile(sources)
  if (Either.isLeft(found)) {
    const { problems } = assemble(sources, null, nothingRead())
    return yield* new ConfigInvalid({ problems: [found.left, ...problems] })
  }
  const { settings, problems } = yield* read(sources, found.right)
  const [first, ...others] = problems
  return first === undefined ? settings : yield* new ConfigInvalid({ problems: [first, ...others] })
})

interface Assembled {
  readonly settings: Settings
  readonly problems: ReadonlyArray<string>
}

const read = Effect.fnUntraced(function* (sources: Sources, text: ConfigText | null) {
  if (text === null) return assemble(sources, null, nothingRead())
  const plain = readPlain(text)
  const quick = plain === null ? null : assemble(sources, text, plain)
  if (quick?.problems.length === 0) return quick
  // Loaded only here, since it is most of what settings cost.
  const yaml = yield* Effect.promise(() => import("yaml"))
  return assemble(sources, text, readConfig(yaml, text))
})

const assemble = (sources: Sources, text: ConfigText | null, config: ReadConfig): Assembled => {
  const problems = [...config.problems]
  const reading = {
    sources,
    file: text?.file ?? null,
    config,
    report: (problem: string) => void problems.push(problem)
  }
  return { settings: settingsOf(reading), problems }
}

const settingsOf = (reading: Reading): Settings => {
  const { values } = reading.config
  const locale = variable(reading, "SAGYO_LOCALE", rules.locale) ?? values.locale
  const level = variable(reading, "SAGYO_LOG_LEVEL", rules.logLevel) ?? values.log.level
  const model = variable(reading, "SAGYO_MODEL", rules.model) ?? values.ollama.model
  const folders = chooseFolders(reading)
  const { ollama, agent, tools, mcp, store } = values
  return {
    file: reading.file,
    dataDir: folders.dataDir,
    locale,
    notices: folders.notices,
    task: {
      locale,
      workspace: folders.workspace,
      hidden: folders.hidden,
      ollama: {
        baseUrl: ollama.base_url ?? variable(reading, "OLLAMA_HOST", ollamaHost) ?? "http://127.0.0.1:11434",
        model,
        temperature: ollama.temperature,
        numCtx: ollama.num_ctx,
        keepAlive: ollama.keep_alive,
        think: ollama.think,
        allowRemote: ollama.allow_remote
      },
      agent: {
        planning: agent.planning,
        maxTurns: agent.max_turns,
        maxDuration: agent.max_duration,
        maxTokens: agent.max_tokens,
        onRestart: agent.on_restart
      },
      tools: {
        approval: tools.approval,
        approvalTimeout: tools.approval_timeout,
        rules: tools.rules,
        shell: tools.shell
      }
    },
    mcp: {
      images: {
        maxCount: mcp.images.max_count,
        maxBytes: mcp.images.max_bytes,
        maxTotalBytes: mcp.images.max_total_bytes
      },
      tasks: { ttl: mcp.tasks.ttl, pollInterval: mcp.tasks.poll_interval, maxQueued: mcp.tasks.max_queued },
      ignoredArguments: mcp.ignored_arguments,
      http: http(reading, mcp.http, folders.tokensFile)
    },
    store: { sessionMaxAge: store.session_max_age, sessionMaxCount: store.session_max_count },
    log: { level, file: folders.logFile },
    audit: { file: folders.auditFile }
  }
}

const http = (reading: Reading, values: ConfigValues["mcp"]["http"], tokensFile: string | null): HttpSettings => {
  const { flags } = reading.sources
  const host = decided(reading, "--host", listenHost, flags.host) ?? values.host
  const port = decided(reading, "--port", rules.port, flags.port) ?? values.port
  const refuse = (path: ConfigPath, words: string) => reading.report(reading.config.problemAt(path, words))
  if (!isLoopback(host)) {
    const words = `${host} can be reached from other machines: set mcp.http.allow_remote to true to allow that, or use 127.0.0.1`
    if (!values.allow_remote && flags.host !== undefined) reading.report(`--host: ${words}`)
    else if (!values.allow_remote) refuse(["mcp", "http", "host"], words)
    if (values.auth === "none")
      refuse(["mcp", "http", "auth"], `none is accepted on loopback only, and the host is ${host}: use token`)
  }
  return {
    host,
    port,
    basePath: values.base_path,
    auth: values.auth,
    tokensFile,
    maxConnections: values.max_connections,
    allowRemote: values.allow_remote,
    allowedHosts: values.allowed_hosts,
    allowedOrigins: values.allowed_origins
  }
}
