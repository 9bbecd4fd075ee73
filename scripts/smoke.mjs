// Starts the built program as its users do, on stdio and on HTTP, and the demo; Node is all that it needs.

import { strict as assert } from "node:assert"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

const program = new URL("../dist/main.js", import.meta.url).pathname
const root = mkdtempSync(join(tmpdir(), "sagyo-smoke-"))
const settings = mkdtempSync(join(tmpdir(), "sagyo-smoke-settings-"))
const workspace = mkdtempSync(join(tmpdir(), "sagyo-smoke-workspace-"))
const config = join(settings, "agent.yaml")
writeFileSync(config, `data_dir: ${join(root, "data")}\nollama:\n  base_url: http://127.0.0.1:9\n`)

const start = (...args) =>
  spawn(process.execPath, [program, ...args, "--config", config], { cwd: workspace, stdio: ["pipe", "pipe", "pipe"] })
const ended = async (child) => (await once(child, "exit"))[0]

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "smoke", version: "1" } }
}
const listTools = { jsonrpc: "2.0", id: 2, method: "tools/list" }
const run = {
  jsonrpc: "2.0",
  id: 3,
  method: "tools/call",
  params: { name: "agent_run", arguments: { request: "hello" } }
}

const checkAnswers = ([hello, tools, accepted]) => {
  assert.equal(hello.result.serverInfo.name, "sagyo")
  assert.deepEqual(
    tools.result.tools.map((tool) => tool.name),
    ["agent_run", "agent_status"]
  )
  assert.match(
    accepted.result.content[0].text,
    /^task_id: [0-9a-f-]{36}\nsession_id: [0-9a-f-]{36}\nstatus: queued\nmessage: /
  )
}

const onStdio = async () => {
  const child = start("stdio")
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (message) => {
    child.stdin.write(`${JSON.stringify(message)}\n`)
    return JSON.parse((await lines.next()).value)
  }
  const exit = ended(child)
  checkAnswers([await ask(initialize), await ask(listTools), await ask(run)])
  child.stdin.end()
  assert.equal(await exit, 0)
}

const onHttp = async () => {
  const child = start("serve", "--port", "0")
  const exit = ended(child)
  const said = []
  let url
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line)
    url = /^listening on (.+)$/.exec(line)?.[1]
    if (url) break
  }
  assert.ok(url, `serve ended before it listened: ${said.join("\n")}`)
  child.stderr.resume()
  const token = readFileSync(join(root, "data", "token"), "utf8").trim()
  const post = (message, headers) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body: JSON.stringify(message)
    })
  assert.equal((await post(listTools, {})).status, 401)
  const ask = async (message) => (await post(message, { authorization: `Bearer ${token}` })).json()
  checkAnswers([await ask(initialize), await ask(listTools), await ask(run)])
  child.kill("SIGTERM")
  assert.equal(await exit, 0)
}

const demo = async () => {
  const child = spawn(process.execPath, [program, "demo", "--scripted"], {
    cwd: workspace,
    stdio: ["ignore", "inherit", "inherit"]
  })
  assert.equal(await ended(child), 0)
}

try {
  for (const [name, check] of Object.entries({ stdio: onStdio, http: onHttp, demo })) {
    await check()
    process.stdout.write(`smoke: ${name} works\n`)
  }
} finally {
  for (const folder of [root, settings, workspace]) rmSync(folder, { recursive: true, force: true })
}
