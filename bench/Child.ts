import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { type Call, callMessage, message } from "./Message.ts"

/** A program that is measured: Node's arguments, and where its stderr goes. */
export interface Command {
  readonly args: ReadonlyArray<string>
  readonly log: string
}

const start = (command: Command, stdio: "pipe" | "ignore"): ChildProcess => {
  const log = openSync(command.log, "w")
  const child = spawn(process.execPath, command.args, { stdio: [stdio, stdio, log] })
  closeSync(log)
  // A run that fails leaves no server behind.
  const kill = () => child.kill("SIGKILL")
  process.on("exit", kill)
  child.once("exit", () => process.off("exit", kill))
  return child
}

/** SIGTERM, and its end; a program that does not end in ten seconds is a fault. */
const stop = async (child: ChildProcess, log: string): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, "exit")
  child.stdin?.end()
  child.kill("SIGTERM")
  const late = new AbortController()
  const ended = await Promise.race([exited.then(() => true), sleep(10_000, false, { signal: late.signal })])
  late.abort()
  if (!ended) {
    child.kill("SIGKILL")
    throw new Error(`a server did not stop: ${readFileSync(log, "utf8").slice(-2000)}`)
  }
}

/** A server on stdio that is spoken to one request after the other. */
export class StdioChild {
  readonly #child: ChildProcess
  readonly #log: string
  #id = 0
  #buffered = ""

  constructor(command: Command) {
    this.#child = start(command, "pipe")
    this.#log = command.log
    this.#child.stdout?.setEncoding("utf8")
  }

  get pid(): number {
    return this.#child.pid!
  }

  list(): Promise<string> {
    return this.#ask(message(++this.#id, "tools/list"))
  }

  call(call: Call): Promise<string> {
    return this.#ask(callMessage(++this.#id, call))
  }

  stop(): Promise<void> {
    return stop(this.#child, this.#log)
  }

  /** The line that answers. */
  #ask(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const stdout = this.#child.stdout!
      const fail = () => reject(new Error(`a server ended: ${readFileSync(this.#log, "utf8").slice(-2000)}`))
      const take = (chunk: string) => {
        this.#buffered += chunk
        const end = this.#buffered.indexOf("\n")
        if (end < 0) return
        const line = this.#buffered.slice(0, end)
        this.#buffered = this.#buffered.slice(end + 1)
        stdout.off("data", take)
        this.#child.off("exit", fail)
        if (line.includes('"error"') || line.includes('"isError":true')) reject(new Error(line))
        else resolve(line)
      }
      stdout.on("data", take)
      this.#child.once("exit", fail)
      this.#child.stdin!.write(`${request}\n`)
    })
  }
}

/** A server on HTTP, ready when it says so on stderr. */
export interface HttpChild {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

export const startHttp = async (command: Command): Promise<HttpChild> => {
  const child = start(command, "ignore")
  for (let tries = 0; tries < 2_000; tries++) {
    const said = readFileSync(command.log, "utf8")
    const url = /listening on (http:\/\/[^\s"]+)/.exec(said)?.[1]
    if (url !== undefined) return { url, pid: child.pid!, stop: () => stop(child, command.log) }
    if (child.exitCode !== null) throw new Error(`a server did not start: ${said.slice(-2000)}`)
    await sleep(5)
  }
  throw new Error(`a server was not ready: ${readFileSync(command.log, "utf8").slice(-2000)}`)
}
