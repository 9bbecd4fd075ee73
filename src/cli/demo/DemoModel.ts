import { Effect, Option, type Scope } from "effect"
import { usableModel } from "../../agent/ModelCheck.ts"
import { ollamaFailureText } from "../../agent/OllamaFailureText.ts"
import { AppConfig } from "../../config/AppConfig.ts"
import type { Bilingual, OllamaSettings } from "../../domain/Settings.ts"
import { OllamaClient } from "../../ollama/OllamaClient.ts"
import { ScriptedOllama } from "../../ollama/ScriptedOllama.ts"
import { Sandbox } from "../../tools/Sandbox.ts"
import { demoReply } from "./DemoScript.ts"

/** Who plays the model in a demo, and where its commands run. */
export interface DemoModel {
  readonly scripted: boolean
  readonly ollama: OllamaSettings
  /** For the reader: which model it is, and why. */
  readonly model: Bilingual
  readonly sandbox: { readonly works: boolean; readonly words: Bilingual }
}

/** The user's own model where it can be used, and its commands confined; else a scripted one, for the life of the scope. */
export const chooseModel = (
  wantsScript: boolean
): Effect.Effect<DemoModel, never, AppConfig | OllamaClient | Sandbox | Scope.Scope> =>
  Effect.gen(function* () {
    const { task, locale } = yield* AppConfig
    const problem = yield* (yield* Sandbox).problem
    const sandbox = {
      works: Option.isNone(problem),
      words: Option.match(problem, { onNone: () => words.confined, onSome: words.unconfined })
    }
    const reason = wantsScript
      ? Option.some(words.asked)
      : Option.isSome(problem)
        ? Option.some(words.noSandbox)
        : yield* whyNot(task.ollama)
    if (Option.isNone(reason)) {
      return { scripted: false, ollama: task.ollama, model: words.own(task.ollama), sandbox }
    }
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => ScriptedOllama.start([], { otherwise: demoReply(locale) })),
      (started) => Effect.promise(() => started.stop())
    )
    const ollama = { ...task.ollama, baseUrl: server.url, model: "scripted" }
    return { scripted: true, ollama, model: words.scripted(reason.value), sandbox }
  })

/** None where the configured model can do the work. */
const whyNot = (settings: OllamaSettings) =>
  Effect.gen(function* () {
    const info = yield* (yield* OllamaClient).show(settings.baseUrl, settings.model)
    yield* usableModel(settings, info)
    return Option.none<Bilingual>()
  }).pipe(
    Effect.catchTag("WorkFailed", ({ text }) => Effect.succeed(Option.some(text))),
    Effect.catchAll((error) =>
      Effect.succeed(
        Option.some(ollamaFailureText(error, { model: settings.model, numCtx: settings.numCtx, images: 0 }))
      )
    )
  )

const words = {
  own: ({ model, baseUrl }: OllamaSettings): Bilingual => ({
    ja: `${model}（${baseUrl} の Ollama）`,
    en: `${model}, by Ollama at ${baseUrl}`
  }),
  scripted: (reason: Bilingual): Bilingual => ({
    ja: `台本どおりに答えるモデル。理由: ${reason.ja}`,
    en: `a scripted one. Why: ${reason.en}`
  }),
  asked: { ja: "--scripted が指定されました。", en: "--scripted was given." },
  noSandbox: {
    ja: "サンドボックスが動かないため、本物のモデルにはコマンドを実行させません。",
    en: "no sandbox works here, and a real model's commands are not run without one."
  },
  confined: { ja: "bubblewrap", en: "bubblewrap" },
  unconfined: (problem: Bilingual): Bilingual => ({
    ja: `off（台本のコマンドだけなので、そのまま実行します）。${problem.ja}`,
    en: `off, since the script's own commands are all that runs. ${problem.en}`
  })
}
