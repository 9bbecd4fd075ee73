import type { Bilingual } from "../domain/Settings.ts"
import type { ToolOffer } from "../tools/ToolBox.ts"
import type { Setback } from "./ToolCallReader.ts"

/** Why a task failed and what mends it, for every way in which the agent's work can fail. */
export const FailureText = {
  turns: (max: number): Bilingual => ({
    ja: `モデルとのやり取りが上限の ${max} 回に達しました (agent.max_turns)。上限を上げるか、依頼を小さく分けてください。`,
    en: `The limit of ${max} turns was reached (agent.max_turns). Raise it, or ask for less at a time.`
  }),
  tokens: (max: number, used: number): Bilingual => ({
    ja: `トークンの上限 ${max} に達しました。使用量は ${used} です (agent.max_tokens)。上限を上げるか、依頼を小さく分けてください。`,
    en: `The limit of ${max} tokens was reached, ${used} were used (agent.max_tokens). Raise it, or ask for less at a time.`
  }),
  duration: (max: number): Bilingual => ({
    ja: `作業時間の上限 ${seconds(max)} 秒に達しました (agent.max_duration)。上限を上げるか、依頼を小さく分けてください。`,
    en: `The limit of ${seconds(max)} seconds of work was reached (agent.max_duration). Raise it, or ask for less at a time.`
  }),
  sameCalls: (subject: string): Bilingual => ({
    ja: `モデルが 3 回続けて全く同じツール呼び出し (${subject}) を求めたため、作業を止めました。依頼をより具体的にするか、別のモデルを試してください (ollama.model)。`,
    en: `The model asked for exactly the same calls (${subject}) in three turns in a row, so the work was stopped. Make the request more precise, or try another model (ollama.model).`
  }),
  remoteModel: (model: string, host: string): Bilingual => ({
    ja: `モデル ${model} はクラウド (${host}) で動きます。データを外部に送ってよい場合は ollama.allow_remote を true にするか、手元で動くモデルを選んでください (ollama.model)。`,
    en: `The model ${model} runs in a cloud (${host}). Set ollama.allow_remote to true if your data may leave this machine, or choose a local model (ollama.model).`
  }),
  noVision: (model: string, where: "request" | "session"): Bilingual => ({
    ja: `${where === "request" ? "依頼に画像がありますが" : "このセッションの以前の依頼に画像がありますが"}、モデル ${model} は画像を扱えません (vision)。vision に対応したモデルを選ぶか (ollama.model)、${where === "request" ? "画像なしで依頼してください" : "新しいセッションで依頼してください"}。`,
    en: `${where === "request" ? "The request has images" : "An earlier request of this session has images"}, but the model ${model} has no vision capability. Choose a model with vision (ollama.model), or ask again ${where === "request" ? "without images" : "in a new session"}.`
  }),
  noTools: (model: string): Bilingual => ({
    ja: `モデル ${model} はツール呼び出し (tools) に対応していません。tools に対応したモデル (例: qwen3:8b) を選んでください (ollama.model)。`,
    en: `The model ${model} has no tools capability. Choose a model that can call tools, such as qwen3:8b (ollama.model).`
  }),
  contextOverflow: (numCtx: number, images: number): Bilingual => ({
    ja: `コンテキストがあふれました: 会話がモデルのコンテキスト (${numCtx} トークン) に収まりません。ollama.num_ctx を上げるか、依頼を短くしてください。${images > 0 ? "画像を小さくするのも有効です。" : ""}`,
    en: `Context overflow: the conversation does not fit into the model's context (${numCtx} tokens). Raise ollama.num_ctx, or make the request shorter.${images > 0 ? " Smaller images help, too." : ""}`
  }),
  useless: (why: Setback, model: string, detail: string): Bilingual => {
    const { ja, en } = USELESS[why]
    const said = detail === "" ? "" : ` (${detail})`
    return {
      ja: `モデル ${model} は回答を出しませんでした: ${ja}${said}。`,
      en: `The model ${model} produced no answer: ${en}${said}.`
    }
  },
  /** Adds what mends the absence of tools that were not offered. */
  withWithheld: (text: Bilingual, withheld: ToolOffer["withheld"]): Bilingual =>
    withheld.reduce(
      (all, { name, reason }) =>
        joined(all, {
          ja: `\nツール ${name} は使えませんでした: ${reason.ja}`,
          en: `\nThe tool ${name} was not offered: ${reason.en}`
        }),
      text
    )
}

export const joined = (first: Bilingual, second: Bilingual): Bilingual => ({
  ja: first.ja + second.ja,
  en: first.en + second.en
})

const seconds = (millis: number): number => Math.round(millis / 100) / 10

const USELESS: Readonly<Record<Setback, Bilingual>> = {
  empty: {
    ja: "返答が空でした。もう一度試すか、別のモデルを選んでください (ollama.model)",
    en: "its reply was empty. Try again, or choose another model (ollama.model)"
  },
  onlyThinking: {
    ja: "思考だけで終わりました。ollama.think を false にするか、別のモデルを選んでください (ollama.model)",
    en: "it ended after thinking only. Set ollama.think to false, or choose another model (ollama.model)"
  },
  cut: {
    ja: "返答が出力の上限で切れました。ollama.num_ctx を上げるか、依頼を小さく分けてください",
    en: "its reply was cut off at the output limit. Raise ollama.num_ctx, or ask for less at a time"
  },
  cutThinking: {
    ja: "思考の途中で出力の上限に達しました。ollama.num_ctx を上げるか、ollama.think を false にしてください",
    en: "the output limit was reached during thinking. Raise ollama.num_ctx, or set ollama.think to false"
  },
  callInProse: {
    ja: "文章の後にツール呼び出しを文字として書き続けました。ツール呼び出しに強いモデルを選んでください (ollama.model)",
    en: "it kept writing tool calls as text after other words. Choose a model that is better at calling tools (ollama.model)"
  },
  brokenCall: {
    ja: "読み取れないツール呼び出しを書き続けました。ツール呼び出しに強いモデルを選んでください (ollama.model)",
    en: "it kept writing tool calls that cannot be read. Choose a model that is better at calling tools (ollama.model)"
  },
  badToolCall: {
    ja: "Ollama が読み取れないツール呼び出しを書き続けました。ツール呼び出しに強いモデルを選んでください (ollama.model)",
    en: "it kept writing tool calls that Ollama cannot read. Choose a model that is better at calling tools (ollama.model)"
  }
}
