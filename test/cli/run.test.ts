import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { makeHome, startServe } from "../mcp/BuiltProgram.ts"
import { makePng } from "../support/Png.ts"
import { hang, scriptedOllama, text, toolCall } from "../support/ScriptedOllama.ts"
import { at, homeWith, sagyo, said, starting, uuid } from "./Cli.ts"

const json = (line: string) => JSON.parse(line) as Record<string, unknown>

describe("sagyo run", () => {
  it.scopedLive("prints the result alone on stdout and a line for each change on stderr", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([
        toolCall("read_file", { path: "secret.txt" }),
        text("It says marigold.\nTwice.")
      ])
      writeFileSync(join(home.workspace, "secret.txt"), "marigold")
      const { exit, stdout, stderr } = yield* sagyo(at(home, "run", "Read secret.txt"))
      assert.strictEqual(stdout, "It says marigold.\nTwice.\n")
      assert.strictEqual(exit, 0)
      const [first, ...lines] = stderr.trimEnd().split("\n")
      assert.match(first!, /^Task \S+ was registered in session \S+\.$/)
      assert.match(lines[0]!, /^The task is waiting for its turn\. {2}0:00$/)
      assert.isTrue(
        lines.some((line) => /^The task is running\. {2}0\/1 {2}ollama chat {2}0:0\d$/.test(line)),
        stderr
      )
      assert.match(lines.at(-1)!, /^The task has completed\. {2}1\/1 {2}50 tokens {2}0:\d\d$/)
      assert.notMatch(stderr, /(?!\n)\p{Cc}/u)
    })
  )

  it.scopedLive("says where it works where that is not the folder that one stands in", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([text("Done.")])
      writeFileSync(home.config, readFileSync(home.config, "utf8").replace(`workspace: ${home.workspace}, `, ""))
      const workspace = join(home.dataDir, "workspace")
      // the home folder is no workspace
      const { exit, stderr } = yield* sagyo(at(home, "run", "work"), "", { HOME: process.cwd() })
      assert.strictEqual(exit, 0, stderr)
      assert.include(stderr.split("\n")[0]!, workspace)
      assert.isTrue(existsSync(workspace))
    })
  )

  it.scopedLive("--json prints one object with the field names of the status text", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([text("Done.")])
      const { exit, stdout } = yield* sagyo(at(home, "run", "--json", "work"))
      assert.strictEqual(exit, 0)
      assert.match(stdout, /^\{.*\}\n$/)
      const task = json(stdout)
      assert.match(String(task.task_id), uuid)
      assert.match(String(task.session_id), uuid)
      assert.deepStrictEqual(Object.entries(task).slice(2), [
        ["status", "completed"],
        ["completed_tasks", { done: 1, planned: 1 }],
        ["current_task", ""],
        ["token_usage", { input: 20, output: 5, total: 25 }],
        ["critical_path_tokens", 0],
        ["message", "The task has completed."],
        ["result", "Done."]
      ])
    })
  )

  it.scopedLive("takes the request from stdin, with its session, temperature and images", () =>
    Effect.gen(function* () {
      const ollama = yield* scriptedOllama([text("One."), text("Two.")], {
        models: [{ name: "scripted", capabilities: ["completion", "tools", "vision"] }]
      })
      const home = makeHome(ollama.url, "locale: en")
      const first = json((yield* sagyo(at(home, "run", "--json", "-"), "作業を\nしてください")).stdout)
      const picture = join(home.workspace, "picture")
      writeFileSync(picture, makePng(8, 8))
      const flags = ["--session", String(first.session_id), "--temperature", "0.25", "--image", picture]
      const second = yield* sagyo(at(home, "run", ...flags, "Go on"))
      assert.deepStrictEqual([second.exit, second.stdout], [0, "Two.\n"])
      const { messages, options } = ollama.requests[1]!.body
      const asked = messages.filter((message) => message.role === "user").map((message) => message.content)
      assert.deepStrictEqual(asked, ["作業を\nしてください", "Go on"])
      assert.strictEqual(options.temperature, 0.25)
      assert.lengthOf(messages.at(-1)!.images!, 1)
    })
  )

  it.scopedLive.each([
    ["without Ollama", () => Effect.succeed("http://127.0.0.1:1"), /`ollama serve`/],
    [
      "without the model",
      () => Effect.map(scriptedOllama([], { models: [{ name: "other" }] }), ({ url }) => url),
      /`ollama pull scripted`/
    ],
    [
      "with a model that has no tools",
      () =>
        Effect.map(
          scriptedOllama([], { models: [{ name: "scripted", capabilities: ["completion"] }] }),
          ({ url }) => url
        ),
      /tools/
    ]
  ] as const)("%s it fails, and stderr says what mends it", ([, url, mends]) =>
    Effect.gen(function* () {
      const home = makeHome(yield* url(), "locale: en")
      const failed = yield* sagyo(at(home, "run", "work"))
      assert.deepStrictEqual([failed.exit, failed.stdout], [1, ""])
      assert.match(failed.stderr, /\nThe task has failed\. {2}0\/1 {2}0:\d\d\n/)
      assert.match(failed.stderr.trimEnd().split("\n").at(-1)!, mends)
      const asJson = yield* sagyo(at(home, "run", "--json", "work"))
      assert.strictEqual(asJson.exit, 1)
      const { status, result } = json(asJson.stdout)
      assert.strictEqual(status, "failed")
      assert.match(String(result), mends)
      assert.isTrue(asJson.stderr.endsWith(`\n${result}\n`))
    })
  )

  it.scopedLive("a request that is refused is not stored, and all that is wrong is said", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith([])
      const refused = yield* sagyo(at(home, "run", "--temperature", "-1", "--session", "x", " "))
      assert.deepStrictEqual([refused.exit, refused.stdout], [2, ""])
      for (const field of ["request", "session_id", "temperature"]) {
        assert.match(refused.stderr, new RegExp(`^(sagyo: )?${field}: `, "m"))
      }
      const image = yield* sagyo(at(home, "run", "--image", home.config, "look"))
      assert.strictEqual(image.exit, 2)
      assert.match(image.stderr, /^sagyo: --image .*agent\.yaml: it is no PNG, JPEG or WebP\n$/)
      assert.strictEqual((yield* sagyo(at(home, "tasks"))).stdout, "")
    })
  )

  it.scopedLive("--detach ends once the task is stored and says who runs it; the next run does so first", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([text("First."), text("Second.")])
      const detached = yield* sagyo(at(home, "run", "--detach", "first"))
      assert.strictEqual(detached.exit, 0)
      assert.match(
        detached.stdout,
        /^task_id: \S+\nsession_id: \S+\nstatus: queued\nmessage: Task .* registered .*\.\n$/
      )
      const id = uuid.exec(detached.stdout)![0]
      assert.include(detached.stderr, "sagyo serve or sagyo stdio runs it")
      assert.include(detached.stderr, `sagyo status ${id}`)
      assert.lengthOf(ollama.requests, 0)
      const second = yield* sagyo(at(home, "run", "second"))
      assert.strictEqual(second.stdout, "Second.\n")
      assert.match((yield* sagyo(at(home, "status", id))).stdout, /\nresult: First\.\n$/)
    })
  )

  it.scopedLive("beside a server that runs tasks it waits for its turn, and others see both", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { home, ollama } = yield* homeWith([
        async () => {
          await Effect.runPromise(Deferred.await(gate))
          return text("First.")
        },
        text("Second.")
      ])
      yield* startServe(home.config)
      const first = yield* starting(at(home, "run", "first"))
      yield* Effect.promise(() => ollama.received(0))
      const second = yield* starting(at(home, "run", "second"))
      yield* said(second, /waiting for its turn\. {2}1 task before it/)
      const listed = (yield* sagyo(at(home, "tasks", "--json"))).stdout.trimEnd().split("\n").map(json)
      assert.deepStrictEqual(
        listed.map((task) => task.status),
        ["queued", "running"]
      )
      const running = (yield* sagyo(at(home, "status", String(listed[1]!.task_id)))).stdout
      assert.match(running, /\nstatus: running\ncompleted_tasks: 0\/1\ncurrent_task: ollama chat\n/)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* first.finished).stdout, "First.\n")
      assert.deepStrictEqual(yield* second.finished.pipe(Effect.map(({ exit, stdout }) => [exit, stdout])), [
        0,
        "Second.\n"
      ])
    })
  )

  it.scopedLive("Ctrl-C cancels the task, closes the model's connection and tells what had been changed", () =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([toolCall("write_file", { path: "new.txt", content: "new" }), [hang]])
      const working = yield* starting(at(home, "run", "work"))
      yield* Effect.promise(() => ollama.waiting(1))
      working.process.kill("SIGINT")
      const { exit, stdout, stderr } = yield* working.finished
      assert.isFalse(yield* Effect.promise(() => ollama.closed(1)))
      assert.deepStrictEqual([exit, stdout], [130, ""])
      assert.match(stderr, /\nThe task was cancelled\. {2}0\/1 {2}25 tokens {2}0:\d\d\n.*new\.txt/s)
      assert.strictEqual(readFileSync(join(home.workspace, "new.txt"), "utf8"), "new")
      assert.match((yield* sagyo(at(home, "tasks"))).stdout, /cancelled/)
    })
  )

  it.scopedLive("Ctrl-C ends the commands of the task", () =>
    Effect.gen(function* () {
      const { home } = yield* homeWith(
        [toolCall("shell", { command: "echo $$ > started; exec sleep 1000" })],
        "tools: { shell: { sandbox: off } }"
      )
      const working = yield* starting(at(home, "run", "work"))
      yield* said(working, /shell echo/)
      const started = join(home.workspace, "started")
      yield* Effect.repeat(Effect.yieldNow(), {
        until: () => existsSync(started) && readFileSync(started, "utf8") !== ""
      })
      working.process.kill("SIGINT")
      assert.strictEqual((yield* working.finished).exit, 130)
      assert.throws(() => process.kill(Number(readFileSync(started, "utf8")), 0), /ESRCH/)
    })
  )

  it.scopedLive.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const)("%s puts the task back into the queue and says so", ([signal, code]) =>
    Effect.gen(function* () {
      const { home, ollama } = yield* homeWith([[hang], text("Done after all.")])
      const working = yield* starting(at(home, "run", "work"))
      yield* Effect.promise(() => ollama.waiting(0))
      working.process.kill(signal)
      const { exit, stdout, stderr } = yield* working.finished
      assert.isFalse(yield* Effect.promise(() => ollama.closed(0)))
      assert.deepStrictEqual([exit, stdout], [code, ""])
      const id = uuid.exec(stderr)![0]
      assert.isTrue(stderr.trimEnd().endsWith(`To withdraw it: sagyo cancel ${id}`), stderr)
      assert.match((yield* sagyo(at(home, "status", id))).stdout, /\nstatus: queued\n/)
      const { url } = yield* startServe(home.config)
      assert.isNotEmpty(url)
      yield* Effect.promise(() => ollama.closed(1))
    })
  )
})
