import type { Command } from "./Command.ts"

const app = () => import("../App.ts")

/** Every command of the program; each loads only what it needs, and `--help` loads nothing. */
export const commands: Readonly<Record<string, Command>> = {
  stdio: {
    usage: "stdio",
    summary: {
      ja: "標準入出力で MCP を提供します。stdin が閉じると終わります。",
      en: "Serve MCP on stdin and stdout, until stdin ends."
    },
    example: "sagyo stdio",
    flags: [],
    arguments: { least: 0, most: 0 },
    servesUntilSignal: true,
    program: async (input) => (await app()).stdio(input)
  },
  serve: {
    usage: "serve [--host H] [--port N]",
    summary: { ja: "http://H:N/mcp で MCP を提供します。", en: "Serve MCP at http://H:N/mcp." },
    example: "sagyo serve --port 0",
    flags: ["host", "port"],
    arguments: { least: 0, most: 0 },
    servesUntilSignal: true,
    program: async (input) => (await app()).serve(input)
  },
  run: {
    usage: "run [--session ID] [--temperature T] [--image FILE]… [--detach] [--json] REQUEST",
    summary: {
      ja: "依頼を実行し、進み具合と結果を示します。REQUEST が - なら標準入力から読みます。",
      en: "Do the work, with live progress; REQUEST - reads it from stdin."
    },
    example: 'sagyo run "Fix the failing test"',
    flags: ["session", "temperature", "image", "detach", "json"],
    arguments: { least: 1, most: 1 },
    ownsInterrupt: true,
    program: async (input) => (await app()).run(input)
  },
  status: {
    usage: "status TASK [--session ID] [--json]",
    summary: { ja: "タスクの状態・進み具合・結果を示します。", en: "Show a task's state, progress and result." },
    example: "sagyo status 9ab4a40b-86fe-432a-904f-8e429c01ea8b",
    flags: ["session", "json"],
    arguments: { least: 1, most: 1 },
    program: async (input) => (await app()).status(input)
  },
  cancel: {
    usage: "cancel TASK [--json]",
    summary: { ja: "タスクを取り消し、終わるまで待ちます。", en: "Cancel a task and wait until it is over." },
    example: "sagyo cancel 9ab4a40b-86fe-432a-904f-8e429c01ea8b",
    flags: ["json"],
    arguments: { least: 1, most: 1 },
    program: async (input) => (await app()).cancel(input)
  },
  tasks: {
    usage: "tasks [--state S] [--session ID] [--limit N] [--json]",
    summary: { ja: "タスクを新しい順に示します。", en: "List tasks, newest first." },
    example: "sagyo tasks --state queued",
    flags: ["state", "session", "limit", "json"],
    arguments: { least: 0, most: 0 },
    program: async (input) => (await app()).tasks(input)
  },
  demo: {
    usage: "demo [--scripted]",
    summary: {
      ja: "失敗するテストを一時フォルダで直す、一連の流れを見せます。",
      en: "Show the whole flow: a failing test in a temporary folder is mended."
    },
    example: "sagyo demo --scripted",
    flags: ["scripted"],
    arguments: { least: 0, most: 0 },
    program: async (input) => (await app()).demo(input)
  }
}
