import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { AgentLoop } from "../../src/agent/AgentLoop.ts"
import { systemPrompt } from "../../src/agent/Prompt.ts"
import type { TaskSettings } from "../../src/domain/Settings.ts"
import { OllamaClient } from "../../src/ollama/OllamaClient.ts"
import type { ScriptEntry, ScriptedRequest } from "../../src/ollama/ScriptedOllama.ts"
import { RunnerRepo } from "../../src/store/RunnerRepo.ts"
import { SessionRepo } from "../../src/store/SessionRepo.ts"
import { TaskIntake } from "../../src/store/TaskIntake.ts"
import { TaskRepo } from "../../src/store/TaskRepo.ts"
import { Approver } from "../../src/tools/Approval.ts"
import { ProcessLedger } from "../../src/tools/ProcessLedger.ts"
import { Sandbox } from "../../src/tools/Sandbox.ts"
import { ToolBox } from "../../src/tools/ToolBox.ts"
import { type Reply, scriptedOllama, text, toolCall } from "../support/ScriptedOllama.ts"
import { testSettings } from "../support/TestSettings.ts"
import { testStore } from "../support/TestStore.ts"

const tools = ToolBox.layer.pipe(Layer.provide([Sandbox.layer, Approver.nobody, ProcessLedger.none]))

/** Replies once it has seen that the last result says what it should. */
const seen =
  (expected: RegExp, reply: Reply): ScriptEntry =>
  ({ body }: ScriptedRequest) => {
    const last = body.messages.at(-1)?.content ?? ""
    if (!expected.test(last)) throw new Error(`expected ${expected} in ${last}`)
    return reply
  }

/** A task with the real store and tools, in a workspace with these files. */
const workIn = (files: Readonly<Record<string, string>>, script: ReadonlyArray<ScriptEntry>) =>
  Effect.gen(function* () {
    const server = yield* scriptedOllama(script)
    const settings = testSettings()
    for (const [name, content] of Object.entries(files)) writeFileSync(join(settings.task.workspace, name), content)
    const task: TaskSettings = {
      ...settings.task,
      ollama: { ...settings.task.ollama, baseUrl: server.url, model: "scripted" },
      tools: { ...settings.task.tools, shell: { ...settings.task.tools.shell, sandbox: "off" } }
    }
    const work = Effect.gen(function* () {
      const repo = yield* TaskRepo
      const accepted = yield* (yield* TaskIntake).accept({
        request: "Make the test pass.",
        sessionId: null,
        temperature: null,
        images: [],
        settings: task,
        caller: { token: null, via: "cli" },
        maxQueued: 10
      })
      const answer = yield* (yield* AgentLoop).run(Option.getOrThrow(yield* (yield* RunnerRepo).take))
      const history = yield* (yield* SessionRepo).history(accepted.sessionId)
      return { answer, history, task: Option.getOrThrow(yield* repo.get(accepted.id)) }
    })
    const layer = AgentLoop.layer.pipe(
      Layer.provide([OllamaClient.layer, tools]),
      Layer.provideMerge(testStore(settings))
    )
    return { ...(yield* Effect.provide(work, layer)), workspace: settings.task.workspace, server }
  })

describe("AgentLoop with the real tools and the real store", () => {
  it.scoped("finds why a test fails, mends it, runs the test and reports", () =>
    Effect.gen(function* () {
      const done = yield* workIn(
        {
          "sum.mjs": "export const sum = (a, b) => a - b\n",
          "sum.test.mjs":
            'import { sum } from "./sum.mjs"\nif (sum(2, 2) !== 4) throw new Error("2 + 2 is " + sum(2, 2))\nconsole.log("green")\n'
        },
        [
          toolCall("list_files", {}),
          seen(/sum\.test\.mjs/, toolCall("shell", { command: "node sum.test.mjs" })),
          seen(/2 \+ 2 is 0/, toolCall("read_file", { path: "sum.mjs" })),
          seen(/a - b/, toolCall("edit_file", { path: "sum.mjs", old_string: "a - b", new_string: "a + b" })),
          seen(/\+.*a \+ b/, toolCall("shell", { command: "node sum.test.mjs" })),
          seen(/green/, text("The sum was a difference. The test passes now."))
        ]
      )
      assert.strictEqual(done.answer, "The sum was a difference. The test passes now.")
      assert.include(readFileSync(join(done.workspace, "sum.mjs"), "utf8"), "a + b")
      assert.deepInclude(done.task, {
        status: "running",
        currentTask: "",
        completedSteps: 1,
        plannedSteps: 1,
        usage: { input: 120, output: 30 }
      })
      const changed = done.history.flatMap(({ message }) => (message._tag === "tool" ? message.changed : []))
      assert.include(changed, "sum.mjs")
      const { messages, tools = [] } = done.server.requests[0]!.body
      assert.strictEqual(messages[0]?.content, systemPrompt({ definitions: [], withheld: [] }))
      assert.isAtMost(Buffer.byteLength(JSON.stringify([messages[0], ...tools])), 4800)
    })
  )
})
