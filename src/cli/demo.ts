import { delimiter, dirname } from "node:path"
import { Effect, Schedule } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Bilingual, Locale } from "../domain/Settings.ts"
import { findProgram } from "../tools/Programs.ts"
import type { CommandInput } from "./Command.ts"
import { chooseModel, type DemoModel } from "./demo/DemoModel.ts"
import { makeProject, restoreTest } from "./demo/DemoProject.ts"
import { type CallTool, startServer } from "./demo/DemoServer.ts"
import { runTest, testCommand } from "./demo/DemoTest.ts"
import { note, out } from "./Output.ts"

/**
 * The whole flow for everybody to see: an MCP client hands a repository with a failing test to a server of this
 * program, asks how far it is, and runs the test itself in the end. Exit code 1 where that is not green.
 */
export const demo = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const project = yield* makeProject
    yield* findNode(project.project)
    const model = yield* chooseModel(input.flags.scripted === true)
    const say = (text: Bilingual) => out(`${text[locale]}\n`)
    yield* say(introduction(model, project.project))
    const before = yield* runTest(project, model.sandbox.works)
    yield* out(transcript(before.output))
    const call = yield* startServer(project, model, locale)
    const status = yield* handOver(call, locale)
    yield* restoreTest(project)
    const after = yield* runTest(project, model.sandbox.works)
    yield* out(transcript(after.output))
    const isGreen = !before.green && after.green && status === "completed"
    yield* isGreen ? say(words.green) : note(`${words.red(model.scripted)[locale]}\n`)
    return isGreen ? 0 : 1
  }).pipe(
    Effect.scoped,
    Effect.catchTag("CommandFailed", ({ message }) => Effect.as(note(`sagyo: ${message}\n`), 1))
  )

/** The project's test is run by the name `node`: where PATH has no such program, it is the one that runs this. */
const findNode = (project: string) =>
  Effect.promise(async () => {
    if ((await findProgram("node", project)) !== null) return
    process.env.PATH = [process.env.PATH ?? "", dirname(process.execPath)].join(delimiter)
  })

/** Calls `agent_run`, then `agent_status` until the task is over, and prints each new text; gives the last state. */
const handOver = (call: CallTool, locale: Locale) =>
  Effect.gen(function* () {
    const request = words.request[locale]
    yield* out(`agent_run ${JSON.stringify({ request })}\n`)
    const accepted = yield* call("agent_run", { request })
    yield* out(`${accepted}\n\n`)
    const ask = { task_id: field(accepted, "task_id") }
    yield* out(`agent_status ${JSON.stringify(ask)}\n`)
    let shown = ""
    const look = Effect.gen(function* () {
      const text = yield* call("agent_status", ask)
      if (text !== shown) yield* out(`${text}\n\n`)
      shown = text
      return field(text, "status")
    })
    return yield* Effect.repeat(look, {
      until: (status) => over.has(status),
      schedule: Schedule.spaced("100 millis")
    }).pipe(Effect.map(() => field(shown, "status")))
  })

const over: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"])

const field = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1] ?? ""

const transcript = (output: string) => `$ ${testCommand}\n${output}\n\n`

const introduction = ({ model, sandbox }: DemoModel, project: string): Bilingual => ({
  ja: `モデル: ${model.ja}\nサンドボックス: ${sandbox.words.ja}\nプロジェクト: ${project}（終わったら消えます）\n`,
  en: `Model: ${model.en}\nSandbox: ${sandbox.words.en}\nProject: ${project} (removed at the end)\n`
})

const words = {
  request: {
    ja: `このプロジェクトのテスト（${testCommand}）が失敗しています。原因を見つけて直し、テストが通ることを確かめて、何をしたか報告してください。`,
    en: `The test of this project (${testCommand}) fails. Find the cause, fix it, make sure that the test passes, and report what you did.`
  },
  green: { ja: "テストは通りました。", en: "The test is green." },
  red: (scripted: boolean): Bilingual =>
    scripted
      ? { ja: "テストは通りませんでした。", en: "The test is not green." }
      : {
          ja: "テストは通りませんでした。このモデルには難しかったようです。より大きなモデルを選ぶか、sagyo demo --scripted で流れだけを見てください。",
          en: "The test is not green: this model did not manage. Choose a bigger one, or see how it goes by sagyo demo --scripted."
        }
}
