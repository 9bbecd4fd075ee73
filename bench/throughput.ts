import { readFileSync } from "node:fs"
import { type HttpChild, startHttp } from "./Child.ts"
import { load, once, type Target } from "./Load.ts"
import type { Programs } from "./Programs.ts"
import { pairs, type Row, rowOf } from "./Row.ts"

const CONNECTIONS = [1, 16]
const REQUEST = "Find the failing test, mend its cause and tell what it was."

export interface Rounds {
  readonly rounds: number
  readonly millis: number
}

/** `agent_status` of a running task against an echo of as many bytes. */
export const status = (programs: Programs, ollama: string, rounds: Rounds): Promise<ReadonlyArray<Row>> =>
  withServers(programs, ollama, "echoHttp", async (own, bare, token) => {
    const run: Target = {
      url: own.url,
      token,
      call: { name: "agent_run", arguments: { request: REQUEST } },
      expected: ""
    }
    const id = /task_id: ([0-9a-f-]{36})/.exec(await once(run))?.[1]
    if (id === undefined) throw new Error("agent_run gave no task_id")
    const ask: Target = { ...run, call: { name: "agent_status", arguments: { task_id: id } }, expected: id }
    const answer = JSON.parse(await once(ask)) as { result: { content: [{ text: string }] } }
    const text = answer.result.content[0].text
    const echo: Target = { url: bare.url, token: null, call: { name: "echo", arguments: { text } }, expected: id }
    return compare("`agent_status`", ask, echo, rounds)
  })

/** `agent_run` against one equally durable insert: while it is measured one task hangs and the others wait. */
export const accept = (programs: Programs, ollama: string, rounds: Rounds): Promise<ReadonlyArray<Row>> =>
  withServers(programs, ollama, "insertHttp", (own, bare, token) => {
    const call = { arguments: { request: REQUEST } }
    const run: Target = { url: own.url, token, call: { name: "agent_run", ...call }, expected: "status: queued" }
    const insert: Target = { url: bare.url, token: null, call: { name: "insert", ...call }, expected: "task_id: " }
    return compare("`agent_run` accepted", run, insert, rounds)
  })

const compare = async (
  what: string,
  own: Target,
  bare: Target,
  { rounds, millis }: Rounds
): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = []
  for (const connections of CONNECTIONS) {
    for (const target of [own, bare]) await load(target, connections, millis)
    const measured = await pairs(
      rounds,
      () => load(own, connections, millis),
      () => load(bare, connections, millis)
    )
    rows.push(rowOf(`${what}, ${connections} connection${connections === 1 ? "" : "s"}`, "/s", "≥ 0.8", measured))
  }
  return rows
}

const withServers = async (
  programs: Programs,
  ollama: string,
  peer: "echoHttp" | "insertHttp",
  use: (own: HttpChild, bare: HttpChild, token: string) => Promise<ReadonlyArray<Row>>
): Promise<ReadonlyArray<Row>> => {
  const command = programs.own("serve", ollama)
  const own = await startHttp(command)
  const bare = await startHttp(programs.bare(peer))
  try {
    return await use(own, bare, readFileSync(command.token, "utf8").trim())
  } finally {
    await Promise.all([own.stop(), bare.stop()])
  }
}
