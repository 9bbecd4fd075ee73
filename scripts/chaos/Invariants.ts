import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import type { Home } from "./Home.ts"
import { answerOf, ending, type Play } from "./Model.ts"

/** What the clients of a round know. */
export interface Told {
  readonly id: string
  readonly play: Play
  readonly name: string
}

interface Row {
  readonly seq: number
  readonly id: string
  readonly status: string
  readonly cancel_requested: number
  readonly unclean_ends: number
  readonly result: string
  readonly request: string
}

interface Entry {
  readonly event: string
  readonly task: string
  readonly status?: string
}

/** Everything that is wrong in the data folder after a round, when all tasks are over and all servers are down. */
export const violations = (home: Home, told: ReadonlyArray<Told>): ReadonlyArray<string> => {
  const db = new Database(join(home.data, "sagyo.db"), { readonly: true })
  try {
    const rows = db
      .prepare(
        `SELECT t.*, json_extract((SELECT body FROM messages WHERE task_id = t.id ORDER BY seq LIMIT 1), '$.content') AS request
         FROM tasks t ORDER BY seq`
      )
      .all() as ReadonlyArray<Row>
    const audit = db.prepare("SELECT body, hash FROM audit ORDER BY seq").all() as ReadonlyArray<{
      readonly body: string
      readonly hash: string
    }>
    const entries = audit.map(({ body }) => JSON.parse(body) as Entry)
    return [
      ...sound(db),
      ...known(rows, told),
      ...ended(rows, entries),
      ...inOrder(rows, entries),
      ...once(db, home),
      ...chained(audit, home),
      ...left(home)
    ]
  } finally {
    db.close()
  }
}

const sound = (db: Database.Database): ReadonlyArray<string> => {
  const check = db.pragma("integrity_check", { simple: true })
  const references = db.pragma("foreign_key_check") as ReadonlyArray<unknown>
  return [
    ...(check === "ok" ? [] : [`the database is damaged: ${check}`]),
    ...(references.length === 0 ? [] : [`${references.length} rows point to nothing`])
  ]
}

const known = (rows: ReadonlyArray<Row>, told: ReadonlyArray<Told>): ReadonlyArray<string> => {
  const ids = new Set(rows.map(({ id }) => id))
  return told.filter(({ id }) => !ids.has(id)).map(({ id }) => `${id} was accepted and is not there`)
}

/** Each task is over, with the end that its story asks for. */
const ended = (rows: ReadonlyArray<Row>, entries: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  rows.flatMap((row) => {
    const [, play, name] = row.request.split(" ") as [string, Play, string]
    const asked = entries.some(({ event, task }) => event === "cancel_requested" && task === row.id)
    const says = (what: string) => [`${row.id} (${play} ${name}): ${what}: ${row.status}, ${row.result.slice(0, 200)}`]
    if (asked !== (row.cancel_requested === 1)) return says("the wish to cancel is half written")
    if (asked) return row.status === "cancelled" ? [] : says("a cancel was asked for")
    switch (row.status) {
      case "completed":
        return row.result === answerOf(name) && (ending.includes(play) || play === "sleep") ? [] : says("wrong answer")
      case "failed":
        return reasons.some((reason) => reason.test(row.result)) ? [] : says("failed without a cause")
      default:
        return says("it has no end that was asked for")
    }
  })

/** What this harness does to tasks. */
const reasons = [/died 3 times/, /disk is full/, /keeps the database locked/, /could not be read or written/]

/** Told by the audit rows: first in, first out, one at a time, and nothing after an end. */
const inOrder = (rows: ReadonlyArray<Row>, entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const seqs = new Map(rows.map(({ id, seq }) => [id, seq]))
  const queued = new Set<string>()
  const over = new Set<string>()
  let live: string | undefined
  const wrong: Array<string> = []
  for (const { event, task, status } of entries) {
    if (event === "accepted") queued.add(task)
    if (event !== "state") continue
    if (over.has(task)) wrong.push(`${task} became ${status} after its end`)
    if (status === "planning" || status === "running") {
      if (live !== undefined && live !== task) wrong.push(`${task} began while ${live} was running`)
      if (live === undefined) {
        const first = [...queued].sort((a, b) => seqs.get(a)! - seqs.get(b)!)[0]
        if (first !== task) wrong.push(`${task} began before ${first}`)
      }
      queued.delete(task)
      live = task
    } else {
      if (live === task) live = undefined
      queued.delete(task)
      if (status === "queued") queued.add(task)
      else over.add(task)
    }
  }
  return wrong
}

/** No call ran twice, and each has one result. */
const once = (db: Database.Database, home: Home): ReadonlyArray<string> => {
  const file = join(home.workspace, "lines.txt")
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
  const twice = lines.filter((line, at) => lines.indexOf(line) !== at)
  const bodies = db.prepare("SELECT task_id, body FROM messages ORDER BY seq").all() as ReadonlyArray<{
    readonly task_id: string
    readonly body: string
  }>
  const results = new Map<string, number>()
  for (const { task_id, body } of bodies) {
    const message = JSON.parse(body) as { _tag: string; callId?: string; toolCalls?: ReadonlyArray<{ id: string }> }
    const add = (id: string, by: number) => results.set(`${task_id} ${id}`, (results.get(`${task_id} ${id}`) ?? 0) + by)
    for (const { id } of message.toolCalls ?? []) add(id, -1)
    if (message._tag === "tool") add(message.callId!, 1)
  }
  return [
    ...twice.map((line) => `the call that wrote ${line} ran twice`),
    ...[...results].filter(([, sum]) => sum !== 0).map(([call, sum]) => `call ${call}: ${sum + 1} results`)
  ]
}

const chained = (audit: ReadonlyArray<{ body: string; hash: string }>, home: Home): ReadonlyArray<string> => {
  let previous = ""
  const broken: Array<string> = []
  for (const [at, { body, hash }] of audit.entries()) {
    previous = createHash("sha256").update(previous).update("\n").update(body).digest("hex")
    if (hash !== previous) broken.push(`audit row ${at + 1} breaks the chain`)
  }
  const file = readFileSync(join(home.data, "audit.jsonl"), "utf8")
  const wanted = audit.map(({ body, hash }) => `${body.slice(0, -1)},"hash":"${hash}"}\n`).join("")
  return [...broken, ...(file === wanted ? [] : [`the audit file has ${file.length} bytes, not ${wanted.length}`])]
}

const left = (home: Home): ReadonlyArray<string> => {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => inWorkspace(pid, home))
  return [
    ...processes.map((pid) => `process ${pid} is left: ${textOf(pid, "cmdline").replaceAll("\0", " ").slice(0, 200)}`)
  ]
}

const inWorkspace = (pid: string, home: Home): boolean => textOf(pid, "environ").includes(`\0PWD=${home.workspace}\0`)

const textOf = (pid: string, file: string): string => {
  try {
    return `\0${readFileSync(`/proc/${pid}/${file}`, "latin1")}`
  } catch {
    return ""
  }
}
