import { execFile } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import Database from "better-sqlite3"
import { fill, type Home, makeHome, removeHome } from "./chaos/Home.ts"
import { type Told, violations } from "./chaos/Invariants.ts"
import { type Play, requestOf, startModel } from "./chaos/Model.ts"
import { Random } from "./chaos/Random.ts"
import { Server } from "./chaos/Server.ts"

const actions = {
  submit: 10,
  submitByCommand: 1,
  status: 4,
  cancel: 5,
  cancelByCommand: 1,
  kill: 3,
  terminate: 2,
  endInput: 1,
  stop: 2,
  lock: 1,
  fill: 1
}
type Action = keyof typeof actions

const plays: Readonly<Record<Play, number>> = {
  answer: 4,
  tools: 6,
  sleep: 2,
  hang: 1,
  midStream: 1,
  dies: 1,
  floods: 1
}

/** Rounds of chaos against the built program; whether nothing was lost, done twice or left behind. */
export const chaos = async (program: string, args: ReadonlyArray<string>): Promise<boolean> => {
  const option = (name: string, otherwise: number) => {
    const at = args.indexOf(name)
    return at < 0 ? otherwise : Number(args[at + 1])
  }
  const rounds = option("--rounds", 20)
  const seed = option("--seed", Date.now() % 1_000_000)
  process.stdout.write(`seed ${seed}, ${rounds} rounds\n`)
  const counts = new Map<string, number>()
  const count = (what: string, by = 1) => counts.set(what, (counts.get(what) ?? 0) + by)
  let wrong = 0
  for (let round = 0; round < rounds; round++) {
    const found = await new Round(program, seed + round, count).play()
    wrong += found.length
    const how = found.length === 0 ? "ok" : found.join("\n  ")
    process.stdout.write(`round ${round + 1} (--seed ${seed + round} --rounds 1): ${how}\n`)
  }
  const lines = [...counts].sort().map(([what, n]) => `${what}: ${n}`)
  process.stdout.write(`${lines.join(", ")}\n${wrong === 0 ? "nothing is wrong" : `${wrong} violations`}\n`)
  return wrong === 0
}

class Round {
  readonly #program: string
  readonly #random: Random
  readonly #count: (what: string, by?: number) => void
  readonly #told: Array<Told> = []
  #submitted = 0

  constructor(program: string, seed: number, count: (what: string, by?: number) => void) {
    this.#program = program
    this.#random = new Random(seed)
    this.#count = count
  }

  async play(): Promise<ReadonlyArray<string>> {
    const model = await startModel()
    const home = makeHome(model.url)
    const servers = [
      new Server("serve", this.#program, home, "serve"),
      new Server("stdio", this.#program, home, "stdio1"),
      new Server("stdio", this.#program, home, "stdio2")
    ]
    let keep = false
    try {
      await Promise.all(servers.map((server) => server.start()))
      for (let step = 0; step < 30; step++) {
        const action = this.#random.weighted(actions)
        this.#count(action)
        await this.#act(action, this.#random.pick(servers), home)
        if (this.#random.below(3) === 0) await sleep(this.#random.below(120))
      }
      const found = await this.#settle(servers, home)
      keep = found.length > 0
      return keep ? [...found, `kept: ${home.folder}`] : found
    } catch (error) {
      keep = true
      return [String((error as Error).stack), `kept: ${home.folder}`]
    } finally {
      for (const server of servers) server.signal("SIGKILL")
      await model.stop()
      if (!keep) removeHome(home)
    }
  }

  async #act(action: Action, server: Server, home: Home): Promise<void> {
    const random = this.#random
    switch (action) {
      case "submit":
        return this.#submit(server)
      case "submitByCommand": {
        const [play, name] = this.#next()
        const out = await this.#command(home, "run", "--detach", requestOf(play, name))
        return this.#accepted(/task_id: ([0-9a-f-]{36})/.exec(out)?.[1], play, name)
      }
      case "status": {
        const task = this.#someTask()
        if (task === undefined) return
        const answer = JSON.stringify((await server.call("agent_status", { task_id: task.id })) ?? null)
        if (answer.includes("was not found")) throw new Error(`${task.id} is not known: ${answer}`)
        return
      }
      case "cancel": {
        const task = this.#someTask()
        if (task === undefined) return
        const both = random.below(2) === 0
        await Promise.all([server.cancel(task.id), ...(both ? [server.cancel(task.id)] : [])])
        return
      }
      case "cancelByCommand": {
        const task = this.#someTask()
        if (task !== undefined) await this.#command(home, "cancel", task.id)
        return
      }
      case "kill":
      case "terminate": {
        server.signal(action === "kill" ? "SIGKILL" : "SIGTERM")
        await server.ended(action === "terminate")
        return server.start()
      }
      case "endInput": {
        if (server.transport !== "stdio") return
        server.endInput()
        await server.ended(true)
        return server.start()
      }
      case "stop": {
        server.signal("SIGSTOP")
        await sleep(random.below(400))
        return server.signal("SIGCONT")
      }
      case "lock": {
        const other = new Database(join(home.data, "sagyo.db"), { timeout: 2000 })
        other.exec("BEGIN IMMEDIATE")
        const asking = this.#submit(server)
        await sleep(random.below(1500))
        other.exec("ROLLBACK")
        other.close()
        return asking
      }
      case "fill": {
        if (!home.small) return
        const free = fill(home)
        await Promise.all([this.#submit(server), sleep(random.below(400))])
        return free()
      }
    }
  }

  async #submit(server: Server): Promise<void> {
    const [play, name] = this.#next()
    const answer = await server.call("agent_run", { request: requestOf(play, name) })
    this.#accepted((answer as { result?: { taskId?: string } } | undefined)?.result?.taskId, play, name)
  }

  #next(): [Play, string] {
    return [this.#random.weighted(plays), `n${++this.#submitted}`]
  }

  #accepted(id: string | undefined, play: Play, name: string): void {
    this.#count(id === undefined ? "not accepted" : "accepted")
    if (id !== undefined) this.#told.push({ id, play, name })
  }

  #someTask(): Told | undefined {
    return this.#told.length === 0 ? undefined : this.#random.pick(this.#told.slice(-8))
  }

  /** A command that may have to wait for work is not waited for longer than a moment. */
  async #command(home: Home, ...args: ReadonlyArray<string>): Promise<string> {
    const child = execFile(process.execPath, [this.#program, ...args, "--config", home.config])
    let out = ""
    child.stdout!.on("data", (text: string) => {
      out += text
    })
    const exited = once(child, "exit")
    await Promise.race([exited, sleep(3000)])
    child.kill("SIGKILL")
    await exited
    return out
  }

  /** Lets everything come to its end, cancels what has none, and looks. */
  async #settle(servers: ReadonlyArray<Server>, home: Home): Promise<ReadonlyArray<string>> {
    const first = servers[0]!
    const db = new Database(join(home.data, "sagyo.db"), { readonly: true })
    const unended = db.prepare(
      `SELECT id, json_extract((SELECT body FROM messages WHERE task_id = t.id ORDER BY seq LIMIT 1), '$.content') AS request
       FROM tasks t WHERE ended_at IS NULL ORDER BY seq`
    )
    const begin = performance.now()
    const stuck: Array<string> = []
    while (true) {
      const tasks = unended.all() as ReadonlyArray<{ id: string; request: string }>
      if (tasks.length === 0) break
      for (const { id, request } of tasks) {
        if (/ (hang|midStream|sleep) /.test(request)) await first.cancel(id)
      }
      if (performance.now() - begin > 30_000) {
        stuck.push(...tasks.map(({ id, request }) => `${id} (${request}) does not end`))
        break
      }
      await sleep(20)
    }
    db.close()
    this.#count("settling ms", Math.round(performance.now() - begin))
    for (const server of servers) {
      server.signal("SIGTERM")
      await server.ended(true)
    }
    const looked = new Database(join(home.data, "sagyo.db"), { readonly: true })
    for (const { status, n } of looked
      .prepare("SELECT status, count(*) AS n FROM tasks GROUP BY status")
      .all() as ReadonlyArray<{ status: string; n: number }>) {
      this.#count(`ended ${status}`, n)
    }
    const [{ unclean }] = looked.prepare("SELECT coalesce(sum(unclean_ends), 0) AS unclean FROM tasks").all() as [
      { unclean: number }
    ]
    this.#count("unclean ends", unclean)
    looked.close()
    return [...stuck, ...violations(home, this.#told)]
  }
}
