import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Command } from "./Child.ts"

export type Peer = "echoStdio" | "echoHttp" | "insertStdio" | "insertHttp"

/** The bundles in `folder`, and a fresh place for what each start of them writes. */
export class Programs {
  readonly #folder: string
  readonly #profile: string | null
  #count = 0

  /** With `profile`, each server of this project leaves a CPU profile there. */
  constructor(folder: string, profile: string | null) {
    this.#folder = folder
    this.#profile = profile
  }

  /** A server of this project on a data folder of its own; `token` names the file of its bearer token. */
  own(transport: "stdio" | "serve", ollama: string): Command & { readonly token: string } {
    const place = this.#place()
    const [settings, data, workspace] = ["settings", "data", "work"].map((name) => join(place, name))
    for (const each of [settings, workspace]) mkdirSync(each!)
    const file = join(settings!, "agent.yaml")
    writeFileSync(
      file,
      [
        `data_dir: ${data}`,
        "ollama:",
        `  base_url: ${ollama}`,
        "  model: scripted",
        "agent:",
        `  workspace: ${workspace}`,
        "  planning: off",
        "mcp:",
        "  tasks:",
        "    max_queued: 1000000",
        "  http:",
        "    port: 0",
        ""
      ].join("\n")
    )
    const profile = this.#profile === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${this.#profile}`]
    return {
      args: [...profile, join(this.#folder, "sagyo", "main.js"), transport, "--config", file],
      log: join(place, "log"),
      token: join(data!, "token")
    }
  }

  bare(peer: Peer): Command {
    const place = this.#place()
    return { args: [join(this.#folder, peer, "main.js"), join(place, "bare.db")], log: join(place, "log") }
  }

  #place(): string {
    const place = join(this.#folder, `run-${++this.#count}`)
    mkdirSync(place)
    return place
  }
}
