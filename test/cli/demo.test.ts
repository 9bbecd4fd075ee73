import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeHome } from "../mcp/BuiltProgram.ts"
import { scriptedOllama, text, toolCall } from "../support/ScriptedOllama.ts"
import { temporaryFolder } from "../support/TestSettings.ts"
import { at, homeWith, sagyo, starting, uuid } from "./Cli.ts"

/** A PATH on which there is no bubblewrap. */
const pathWithoutSandbox = () => {
  const folder = temporaryFolder("sagyo-path-")
  symlinkSync(process.execPath, join(folder, "node"))
  for (const name of ["sh", "bash"]) {
    if (existsSync(`/bin/${name}`)) symlinkSync(`/bin/${name}`, join(folder, name))
  }
  return folder
}

/** A folder for temporary ones, to see that nothing is left. */
const ownTmp = () => {
  const TMPDIR = join(temporaryFolder("sagyo-tmp-"), "tmp")
  mkdirSync(TMPDIR)
  return { TMPDIR }
}

const texts = (stdout: string) =>
  stdout.split("\n\n").filter((part) => part.includes("\ntask_id: ") || part.startsWith("task_id: "))

// a demo takes some seconds by itself, and more on a busy machine
const ROOM = 120_000

describe("sagyo demo", () => {
  it.scopedLive(
    "ends with a green test and the contract's texts, and leaves nothing behind",
    () =>
      Effect.gen(function* () {
        const { home, ollama } = yield* homeWith([])
        const env = ownTmp()
        const { exit, stdout, stderr } = yield* sagyo(at(home, "demo", "--scripted"), "", env)
        assert.deepStrictEqual([exit, stderr], [0, ""])
        assert.match(stdout, /^Model: a scripted one\. Why: --scripted was given\.\nSandbox: /)
        assert.match(stdout, /\n\$ node test\.js\nFAIL: /)
        const [accepted, ...polled] = texts(stdout)
        const id = uuid.exec(accepted!)![0]
        assert.match(
          accepted!,
          new RegExp(
            `^agent_run \\{.*\\}\\ntask_id: ${id}\\nsession_id: \\S+\\nstatus: queued\\nmessage: Task ${id} was registered in session \\S+\\.$`
          )
        )
        assert.match(
          polled.at(-1)!,
          /^task_id: .*\nsession_id: .*\nstatus: completed\ncompleted_tasks: 1\/1\ncurrent_task:\ntoken_usage: input=120 output=30 total=150\ncritical_path_tokens: 0\nmessage: The task has completed\.\nresult: The cause was in total of cart\.js/
        )
        assert.isTrue(stdout.endsWith("\n$ node test.js\nPASS: total([3, 4, 5]) is 12\n\nThe test is green.\n"), stdout)
        assert.lengthOf(ollama.exchanges, 0)
        assert.deepStrictEqual(readdirSync(env.TMPDIR), [])
      }),
    ROOM
  )

  it.scopedLive(
    "without Ollama it plays the script and says why; without a sandbox too",
    () =>
      Effect.gen(function* () {
        const home = makeHome("http://127.0.0.1:1", "locale: ja")
        const { exit, stdout } = yield* sagyo(at(home, "demo"), "", { PATH: pathWithoutSandbox() })
        assert.strictEqual(exit, 0)
        assert.match(stdout, /^モデル: 台本どおりに答えるモデル。理由: サンドボックスが動かないため/)
        assert.match(stdout, /\nサンドボックス: off/)
        assert.isTrue(stdout.endsWith("\nテストは通りました。\n"))
        const confined = yield* sagyo(at(home, "demo"))
        assert.strictEqual(confined.exit, 0)
        assert.match(confined.stdout, /^モデル: 台本どおりに答えるモデル。理由: /)
      }),
    ROOM
  )

  it.scopedLive(
    "a model of one's own that does not manage is said so, and it is not helped by changing the test",
    () =>
      Effect.gen(function* () {
        const home = yield* Effect.map(
          scriptedOllama([], {
            otherwise: ({ body: { messages } }) =>
              messages.at(-1)?.role === "tool"
                ? text("I made the test pass.")
                : toolCall("write_file", { path: "test.js", content: "" })
          }),
          ({ url }) => makeHome(url, "locale: en")
        )
        const { exit, stdout, stderr } = yield* sagyo(at(home, "demo"))
        if (/^Sandbox: off/m.test(stdout)) return assert.strictEqual(exit, 0) // no model of one's own without a sandbox
        assert.match(stdout, /^Model: scripted, by Ollama at http/)
        assert.match(stdout, /\nresult: I made the test pass\.\n\n\$ node test\.js\nFAIL: /)
        assert.match(stderr, /^The test is not green: .*--scripted\.\n$/)
        assert.strictEqual(exit, 1)
      }),
    ROOM
  )

  it.scopedLive(
    "Ctrl-C ends it, its server and its folder",
    () =>
      Effect.gen(function* () {
        const { home } = yield* homeWith([])
        const env = ownTmp()
        const working = yield* starting(at(home, "demo", "--scripted"), env)
        yield* Effect.async<void>((resume) => {
          working.process.stdout.on("data", (chunk: Buffer) => {
            if (chunk.includes("agent_status")) resume(Effect.void)
          })
        })
        working.process.kill("SIGINT")
        assert.strictEqual((yield* working.finished).exit, 130)
        assert.deepStrictEqual(readdirSync(env.TMPDIR), [])
      }),
    ROOM
  )
})
