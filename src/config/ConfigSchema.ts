import { Either, ParseResult, Schema } from "effect"
import { allowedHost, allowedOrigin, basePath, listenHost } from "./Network.ts"
import { ollamaHost } from "./OllamaHost.ts"
import { boolean, integer, number, oneOf, orNull, type Rule, shown, text } from "./Rule.ts"
import { path } from "./SettingsPath.ts"
import { day, duration, GiB, keepAlive, MiB, minute, second, size } from "./Units.ts"

const checked = <A>(rule: Rule<A>): Schema.Schema<A, unknown> =>
  Schema.transformOrFail(Schema.Unknown, Schema.Any as Schema.Schema<A>, {
    strict: true,
    decode: (value, _options, ast) => Either.mapLeft(rule(value), (words) => new ParseResult.Type(ast, value, words)),
    encode: (value) => ParseResult.succeed(value)
  })

const key = <A>(rule: Rule<A>, fallback: NoInfer<A>) =>
  Schema.optionalWith(checked(rule), { exact: true, default: () => fallback })

const isMap: Rule<object> = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Either.right(value)
    : Either.left(`must be a section: its keys below it, indented by two spaces, not ${shown(value)}`)

const isList: Rule<ReadonlyArray<unknown>> = (value) =>
  Array.isArray(value) ? Either.right(value) : Either.left(`must be a list, such as [a, b], not ${shown(value)}`)

const section = <A, I>(fields: Schema.Schema<A, I>) => {
  const schema: Schema.Schema<A, unknown> = Schema.compose(checked(isMap), fields, { strict: false })
  return Schema.optionalWith(schema, { exact: true, default: () => Schema.decodeUnknownSync(schema)({}) })
}

const list = <A, I>(item: Schema.Schema<A, I>) => {
  const schema: Schema.Schema<ReadonlyArray<A>, unknown> = Schema.compose(checked(isList), Schema.Array(item), {
    strict: false
  })
  return Schema.optionalWith(schema, { exact: true, default: (): ReadonlyArray<A> => [] })
}

export const rules = {
  locale: oneOf("ja", "en"),
  model: text("the name of a model, such as qwen3:8b", /^[^\s"'${}\p{Cc}]{1,255}$/u),
  logLevel: oneOf("trace", "debug", "info", "warn", "error", "off"),
  port: integer(0, 65535)
}

const argument = text(
  "a property that sagyo's tools do not have themselves",
  /^(?!(request|session_id|temperature|images|task_id|__proto__)$)[^\p{Cc}]{1,100}$/u
)
const variable = text("the name of an environment variable, without a value", /^[A-Za-z_][A-Za-z0-9_]*$/)
const timer = (min: number) => duration(min, 24 * day)
const age = duration(second, 36_500 * day)

const tools = ["read_file", "list_files", "search_files", "write_file", "edit_file", "shell"] as const
const command = text(
  "the first words of one command, without operators such as && or |",
  /^\s*[^\s;&|(){}`\n][^;&|(){}`\n]*$/
)
const glob = text(
  "a pattern of paths below the workspace, such as src/ or docs/**/*.md",
  /^(?![!#~])(?!.*(^|\/)\.{1,2}(\/|$))[^\s\p{Cc}]([^\p{Cc}]*[^\s\p{Cc}])?$/u
)

const RuleFields = Schema.Struct({
  tool: checked(oneOf(...tools, "*")),
  command: Schema.optionalWith(checked(command), { exact: true }),
  path: Schema.optionalWith(checked(glob), { exact: true }),
  action: checked(oneOf("allow", "ask", "deny"))
})
export const toolRuleKeys = Object.keys(RuleFields.fields)

// A condition that a tool's calls cannot meet would make a rule that never matches.
const matching = RuleFields.pipe(
  Schema.filter(({ tool, command, path }) => {
    const [takesCommand, takesPath] = [tool === "shell" || tool === "*", tool !== "shell"]
    if (command !== undefined && !takesCommand)
      return { path: ["command"], message: "must stand only where tool is shell" }
    if (path !== undefined && !takesPath) return { path: ["path"], message: "must not stand where tool is shell" }
    return command !== undefined && path !== undefined
      ? { path: ["path"], message: "must not stand beside command: no call has both" }
      : true
  })
)
const ToolRule: Schema.Schema<typeof RuleFields.Type, unknown> = Schema.compose(checked(isMap), matching, {
  strict: false
})

/** Every key of `agent.yaml`, with its rule and its default. Sizes become bytes, durations milliseconds. */
const Config = Schema.Struct({
  locale: key(rules.locale, "ja"),
  data_dir: key(orNull(path), null),
  ollama: section(
    Schema.Struct({
      base_url: key(orNull(ollamaHost), null),
      model: key(rules.model, "qwen3:8b"),
      temperature: key(orNull(number(0, 2)), null),
      num_ctx: key(integer(512, 2 ** 24), 16_384),
      keep_alive: key(keepAlive, 10 * minute),
      think: key(
        oneOf<boolean | "auto" | "low" | "medium" | "high">("auto", true, false, "low", "medium", "high"),
        "auto"
      ),
      allow_remote: key(boolean, false)
    })
  ),
  agent: section(
    Schema.Struct({
      workspace: key(orNull(path), null),
      planning: key(oneOf("auto", "off", "always"), "auto"),
      max_turns: key(integer(1, 100_000), 50),
      max_duration: key(timer(second), 30 * minute),
      max_tokens: key(orNull(integer(1, 1e12)), null),
      on_restart: key(oneOf("resume", "fail"), "resume")
    })
  ),
  tools: section(
    Schema.Struct({
      approval: key(oneOf("never", "dangerous", "always"), "never"),
      approval_timeout: key(timer(second), 5 * minute),
      rules: list(ToolRule),
      shell: section(
        Schema.Struct({
          enabled: key(boolean, true),
          sandbox: key(oneOf("auto", "off"), "auto"),
          network: key(boolean, false),
          timeout: key(timer(second), 2 * minute),
          env: list(checked(variable))
        })
      )
    })
  ),
  mcp: section(
    Schema.Struct({
      images: section(
        Schema.Struct({
          max_count: key(integer(0, 100), 4),
          max_bytes: key(size(1, GiB / 4), 10 * MiB),
          max_total_bytes: key(size(1, GiB / 4), 20 * MiB)
        })
      ),
      tasks: section(
        Schema.Struct({
          ttl: key(age, 7 * day),
          poll_interval: key(duration(10, 3600 * second), second),
          max_queued: key(integer(1, 1_000_000), 1000)
        })
      ),
      ignored_arguments: list(checked(argument)),
      http: section(
        Schema.Struct({
          host: key(listenHost, "127.0.0.1"),
          port: key(rules.port, 3939),
          base_path: key(basePath, ""),
          auth: key(oneOf("token", "none"), "token"),
          tokens_file: key(orNull(path), null),
          max_connections: key(integer(1, 65_535), 1000),
          allow_remote: key(boolean, false),
          allowed_hosts: list(checked(allowedHost)),
          allowed_origins: list(checked(allowedOrigin))
        })
      )
    })
  ),
  store: section(
    Schema.Struct({
      session_max_age: key(age, 90 * day),
      session_max_count: key(integer(1, 100_000_000), 10_000)
    })
  ),
  log: section(Schema.Struct({ level: key(rules.logLevel, "info"), file: key(orNull(path), null) })),
  audit: section(Schema.Struct({ file: key(orNull(path), null) }))
})
export type ConfigValues = typeof Config.Type
export const ConfigSchema: Schema.Schema<ConfigValues, unknown> = Schema.compose(checked(isMap), Config, {
  strict: false
})
