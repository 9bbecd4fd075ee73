import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { type Command, StdioChild } from "./Child.ts"
import type { Call } from "./Message.ts"
import type { Programs } from "./Programs.ts"
import { type Row, rowOf } from "./Row.ts"

/** How long a server is left alone before it is looked at, so that what it began is over. */
const SETTLE = 700

const STATUS: Call = { name: "agent_status", arguments: { task_id: "00000000-0000-0000-0000-000000000000" } }
const ECHO: Call = { name: "echo", arguments: { text: "x" } }
const RUN: Call = { name: "agent_run", arguments: { request: "Read a file." } }
const INSERT: Call = { name: "insert", arguments: { request: "Read a file." } }

/** Memory of idle stdio servers that stand side by side. */
export const memory = async (programs: Programs, ollama: string, rounds: number): Promise<ReadonlyArray<Row>> => {
  const listed: Array<{ own: number; bare: number }> = []
  const asked: Array<{ own: number; bare: number }> = []
  const accepted: Array<{ own: number; bare: number }> = []
  for (let round = 0; round < rounds; round++) {
    const echo = await sideBySide(programs.own("stdio", ollama), programs.bare("echoStdio"), STATUS, ECHO)
    listed.push(echo.listed)
    asked.push(echo.called)
    const insert = await sideBySide(programs.own("stdio", ollama), programs.bare("insertStdio"), RUN, INSERT)
    accepted.push(insert.called)
  }
  const kind = existsSync(ROLLUP("self")) ? "PSS" : "RSS"
  return [
    rowOf(`memory (${kind}) after \`tools/list\``, "MiB", "≤ 1.5", listed),
    rowOf(`memory (${kind}) after \`agent_status\`, against an echo`, "MiB", "≤ 1.5", asked),
    rowOf(`memory (${kind}) with a task at the model, against an insert`, "MiB", "", accepted)
  ]
}

const sideBySide = async (ownCommand: Command, bareCommand: Command, ownCall: Call, bareCall: Call) => {
  const own = new StdioChild(ownCommand)
  const bare = new StdioChild(bareCommand)
  try {
    await Promise.all([own.list(), bare.list()])
    await sleep(SETTLE)
    const listed = { own: mebibytes(own.pid), bare: mebibytes(bare.pid) }
    await Promise.all([own.call(ownCall), bare.call(bareCall)])
    await sleep(SETTLE)
    return { listed, called: { own: mebibytes(own.pid), bare: mebibytes(bare.pid) } }
  } finally {
    await Promise.all([own.stop(), bare.stop()])
  }
}

const ROLLUP = (pid: number | "self"): string => `/proc/${pid}/smaps_rollup`

/** The proportional set size where the system tells it, else the resident set size. */
const mebibytes = (pid: number): number => {
  const kibibytes = existsSync(ROLLUP(pid))
    ? /^Pss:\s+(\d+) kB/m.exec(readFileSync(ROLLUP(pid), "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).trim()
  return Number(kibibytes) / 1024
}
