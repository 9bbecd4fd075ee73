import type { Bilingual } from "../domain/Settings.ts"
import type { OllamaError } from "../ollama/OllamaError.ts"
import { FailureText, joined } from "./FailureText.ts"

/** What was asked; `images` counts those that the call carried. */
export interface Asked {
  readonly model: string
  readonly numCtx: number
  readonly images: number
}

/** What came instead of an answer, in Ollama's own words, and what mends it. */
export const ollamaFailureText = (error: OllamaError, at: Asked): Bilingual => {
  const text = textOf(error, at)
  return at.images > 0 && BLAMES_IMAGES.has(error._tag) ? joined(text, IMAGE_HINT) : text
}

const BLAMES_IMAGES: ReadonlySet<OllamaError["_tag"]> = new Set([
  "OllamaUnavailable",
  "OllamaRefused",
  "OllamaStreamBroken"
])

const IMAGE_HINT: Bilingual = {
  ja: " 壊れた画像や、小さすぎる・大きすぎる画像が原因のことがあります。画像なし、または別の大きさで試してください。",
  en: " A damaged, very small or very large image can cause this: try without images, or with images of another size."
}

const textOf = (error: OllamaError, at: Asked): Bilingual => {
  const said = (error._tag === "OllamaUnreachable" ? error.reason : error.message).replace(/[.。]\s*$/, "")
  switch (error._tag) {
    case "OllamaUnreachable":
      return {
        ja: `Ollama に接続できません: ${error.baseUrl} (${said})。\`ollama serve\` で起動するか、ollama.base_url を確認してください。`,
        en: `Ollama does not answer at ${error.baseUrl} (${said}). Start it with \`ollama serve\`, or check ollama.base_url.`
      }
    case "OllamaModelMissing":
      return {
        ja: `モデル ${error.model} がありません (${said})。\`ollama pull ${error.model}\` で取得するか、別のモデルを選んでください (ollama.model)。`,
        en: `The model ${error.model} is not there (${said}). Get it with \`ollama pull ${error.model}\`, or choose another one (ollama.model).`
      }
    case "OllamaUnsupported":
      return {
        ja: `モデル ${error.model} は ${error.capability} に対応していません (${said})。対応したモデルを選んでください (ollama.model)。`,
        en: `The model ${error.model} has no ${error.capability} capability (${said}). Choose a model that has it (ollama.model).`
      }
    case "OllamaContextExceeded":
      return joined(FailureText.contextOverflow(at.numCtx, at.images), {
        ja: ` (${said})`,
        en: ` (${said})`
      })
    case "OllamaBadToolCall":
      return FailureText.useless("badToolCall", at.model, said)
    case "OllamaUnavailable":
      return {
        ja: `Ollama が応答を返せない状態が続きました${error.status === null ? "" : ` (HTTP ${error.status})`}: ${said}。\`ollama ps\` と Ollama のログを確認して、もう一度試してください。`,
        en: `Ollama stayed unable to answer${error.status === null ? "" : ` (HTTP ${error.status})`}: ${said}. Look at \`ollama ps\` and at Ollama's log, then try again.`
      }
    case "OllamaStreamBroken":
      return {
        ja: `Ollama の応答が途中で途切れました: ${said}。Ollama のログを確認して、もう一度試してください。`,
        en: `Ollama's answer broke off: ${said}. Look at Ollama's log, then try again.`
      }
    case "OllamaRefused":
      if (/memory/i.test(said)) {
        return {
          ja: `メモリが足りず、モデルを動かせません: ${said}。小さいモデルを選ぶか (ollama.model)、ollama.num_ctx を下げてください。`,
          en: `There is not enough memory for the model: ${said}. Choose a smaller one (ollama.model), or lower ollama.num_ctx.`
        }
      }
      return {
        ja: `Ollama が呼び出しを拒否しました (HTTP ${error.status}): ${said}。ollama.base_url と ollama.model を確認してください。`,
        en: `Ollama refused the call (HTTP ${error.status}): ${said}. Check ollama.base_url and ollama.model.`
      }
  }
}
