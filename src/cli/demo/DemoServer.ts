import { writeFile } from "node:fs/promises"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect, type Scope } from "effect"
import type { Locale } from "../../domain/Settings.ts"
import { CommandFailed } from "../Failures.ts"
import type { DemoModel } from "./DemoModel.ts"
import type { DemoProject } from "./DemoProject.ts"

/** Calls a tool of the server and gives its text; a tool error is a failure. */
export type CallTool = (name: string, args: Readonly<Record<string, unknown>>) => Effect.Effect<string, CommandFailed>

/** This program as an MCP server of its own process, and an MCP client that is connected to it by stdio. */
export const startServer = (
  project: DemoProject,
  model: DemoModel,
  locale: Locale
): Effect.Effect<CallTool, CommandFailed, Scope.Scope> =>
  Effect.gen(function* () {
    yield* attempt(() => writeFile(project.config, JSON.stringify(settingsOf(project, model, locale), null, 2)))
    const client = new Client(
      { name: "sagyo-demo", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } }
    )
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [process.argv[1] ?? "", "stdio", "--config", project.config],
      // nothing of the user's own settings gets in: the environment would beat the file
      env: { PATH: process.env.PATH ?? "", ...(process.env.TMPDIR !== undefined && { TMPDIR: process.env.TMPDIR }) },
      cwd: project.project
    })
    yield* Effect.acquireRelease(
      attempt(() => client.connect(transport)),
      () => Effect.promise(() => client.close().catch(() => undefined))
    )
    return (name, args) =>
      Effect.flatMap(
        attempt((signal) => client.callTool({ name, arguments: { ...args } }, { signal })),
        ({ content, isError }) => {
          const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
          return isError ? new CommandFailed({ message: text }) : Effect.succeed(text)
        }
      )
  })

/** JSON is YAML. */
const settingsOf = ({ dataDir, project }: DemoProject, { ollama, scripted, sandbox }: DemoModel, locale: Locale) => ({
  locale,
  data_dir: dataDir,
  ollama: {
    base_url: ollama.baseUrl,
    model: ollama.model,
    temperature: ollama.temperature,
    num_ctx: ollama.numCtx,
    keep_alive: ollama.keepAlive > 0 ? `${ollama.keepAlive}ms` : ollama.keepAlive,
    think: ollama.think,
    allow_remote: ollama.allowRemote
  },
  agent: { workspace: project, planning: scripted ? "off" : "auto", max_duration: "10m" },
  tools: { shell: { sandbox: sandbox.works ? "auto" : "off" } },
  log: { level: "error" }
})

const attempt = <A>(run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, CommandFailed> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new CommandFailed({ message: `the demo's server: ${(cause as Error).message}` })
  })
