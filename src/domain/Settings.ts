import { Schema } from "effect"

export const Locale = Schema.Literal("ja", "en")
export type Locale = typeof Locale.Type

/** A sentence in each language that the program speaks. */
export type Bilingual = Readonly<Record<Locale, string>>

export const Think = Schema.Union(Schema.Literal("auto", "low", "medium", "high"), Schema.Boolean)

/** Where the model is and how it is asked. `keepAlive` is in milliseconds, -1 for ever. */
export const OllamaSettings = Schema.Struct({
  baseUrl: Schema.String,
  model: Schema.String,
  temperature: Schema.NullOr(Schema.Number),
  numCtx: Schema.Number,
  keepAlive: Schema.Number,
  think: Think,
  allowRemote: Schema.Boolean
})
export type OllamaSettings = typeof OllamaSettings.Type

/** Bounds of one task. `maxDuration` is in milliseconds. */
export const AgentSettings = Schema.Struct({
  planning: Schema.Literal("auto", "off", "always"),
  maxTurns: Schema.Number,
  maxDuration: Schema.Number,
  maxTokens: Schema.NullOr(Schema.Number),
  onRestart: Schema.Literal("resume", "fail")
})
export type AgentSettings = typeof AgentSettings.Type

/** The first rule that matches a call decides: by tool name, command prefix (`shell`) and path glob. */
export const ToolRule = Schema.Struct({
  tool: Schema.String,
  command: Schema.optional(Schema.String),
  path: Schema.optional(Schema.String),
  action: Schema.Literal("allow", "ask", "deny")
})
export type ToolRule = typeof ToolRule.Type

/** `timeout` and `approvalTimeout` are in milliseconds; `env` holds names, never values. */
export const ToolSettings = Schema.Struct({
  approval: Schema.Literal("never", "dangerous", "always"),
  approvalTimeout: Schema.Number,
  rules: Schema.Array(ToolRule),
  shell: Schema.Struct({
    enabled: Schema.Boolean,
    sandbox: Schema.Literal("auto", "off"),
    network: Schema.Boolean,
    timeout: Schema.Number,
    env: Schema.Array(Schema.String)
  })
})
export type ToolSettings = typeof ToolSettings.Type

/**
 * All that a task needs to know of its settings, as they were when it was accepted. It is stored
 * with the task, so that whichever process runs it runs it alike. `workspace` is a real path;
 * `hidden` lists the folders that no tool may see (the data folder, the settings folder).
 */
export const TaskSettings = Schema.Struct({
  locale: Locale,
  workspace: Schema.String,
  hidden: Schema.Array(Schema.String),
  ollama: OllamaSettings,
  agent: AgentSettings,
  tools: ToolSettings
})
export type TaskSettings = typeof TaskSettings.Type
