import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import type { Home } from "./Home.ts"

const VERSION = "2026-07-28"
const TASKS = "io.modelcontextprotocol/tasks"
const PATIENCE = 20_000

/** A server of the built program on one transport, with a client that declares the Tasks extension. */
export class Server {
  readonly transport: "serve" | "stdio"
  readonly #program: string
  readonly #home: Home
  readonly #log: string
  readonly #waiting = new Map<number, (answer: unknown) => void>()
  #child: ChildProcess | undefined
  #url: string | undefined
  #id = 0
  #answered = false

  constructor(transport: "serve" | "stdio", program: string, home: Home, name: string) {
    this.transport = transport
    this.#program = program
    this.#home = home
    this.#log = join(home.folder, `${name}.log`)
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  async start(): Promise<void> {
    const log = openSync(this.#log, "a")
    const begin = readFileSync(this.#log).length
    const port = this.transport === "serve" ? ["--port", "0"] : []
    const child = spawn(process.execPath, [this.#program, this.transport, ...port, "--config", this.#home.config], {
      stdio: ["pipe", "pipe", log]
    })
    closeSync(log)
    child.stdin!.on("error", () => undefined)
    this.#child = child
    this.#answered = false
    if (this.transport === "stdio") {
      createInterface({ input: child.stdout! }).on("line", (line) => {
        const answer = JSON.parse(line) as { readonly id?: number }
        this.#waiting.get(answer.id ?? -1)?.(answer)
      })
      return
    }
    child.stdout!.resume()
    this.#url = undefined
    while (this.#url === undefined && this.running) {
      await sleep(5)
      const said = readFileSync(this.#log, "utf8").slice(begin)
      this.#url = /listening on (http:\/\/\S+)/.exec(said)?.[1]
    }
  }

  signal(name: NodeJS.Signals): void {
    if (!this.running) return
    this.#child!.kill(name)
  }

  /** Waits for its end. What was asked to end says so by its exit code, if it was up by then. */
  async ended(asked: boolean): Promise<void> {
    const child = this.#child!
    if (this.running && !(await Promise.race([once(child, "exit"), sleep(PATIENCE)]))) {
      throw new Error(`${this.transport} does not end`)
    }
    if (asked && this.#answered && child.exitCode !== 0) {
      throw new Error(`${this.transport} was asked to end, and did so by ${child.exitCode ?? child.signalCode}`)
    }
  }

  endInput(): void {
    this.#child!.stdin!.end()
  }

  call(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#ask("tools/call", name, { name, arguments: args })
  }

  cancel(taskId: string): Promise<unknown> {
    return this.#ask("tasks/cancel", taskId, { taskId })
  }

  /** The answer, or undefined where the server died or was stopped before it gave one. */
  async #ask(method: string, name: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    const id = ++this.#id
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": VERSION,
          "io.modelcontextprotocol/clientInfo": { name: "chaos", version: "0" },
          "io.modelcontextprotocol/clientCapabilities": { extensions: { [TASKS]: {} } }
        }
      }
    })
    const gone = new AbortController()
    const child = this.#child!
    const onExit = () => gone.abort()
    child.once("exit", onExit)
    try {
      const answer = await Promise.race([
        this.transport === "stdio" ? this.#overPipe(id, body) : this.#overHttp(method, name, body, gone.signal),
        new Promise<undefined>((resolve) => gone.signal.addEventListener("abort", () => resolve(undefined))),
        sleep(PATIENCE, undefined, { signal: gone.signal }).catch(() => undefined)
      ])
      if (answer !== undefined) this.#answered = true
      return answer
    } finally {
      child.off("exit", onExit)
      gone.abort()
      this.#waiting.delete(id)
    }
  }

  #overPipe(id: number, body: string): Promise<unknown> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#child!.stdin!.write(`${body}\n`)
    })
  }

  async #overHttp(method: string, name: string, body: string, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await fetch(this.#url!, {
        method: "POST",
        signal,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": VERSION,
          "mcp-method": method,
          "mcp-name": name,
          authorization: `Bearer ${readFileSync(join(this.#home.data, "token"), "utf8").trim()}`
        },
        body
      })
      return await response.json()
    } catch {
      return undefined
    }
  }
}
