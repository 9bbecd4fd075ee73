import { Either } from "effect"
import type { OllamaSettings } from "../domain/Settings.ts"
import type { ModelInfo } from "../ollama/OllamaSchema.ts"
import { FailureText } from "./FailureText.ts"
import { WorkFailed } from "./WorkFailed.ts"

/** A model that may do the work, and how it is asked. */
export interface UsableModel {
  readonly name: string
  readonly numCtx: number
  readonly vision: boolean
  /** What is sent as `think`; undefined for a model that cannot think. */
  readonly think: boolean | "low" | "medium" | "high" | undefined
}

/** Judges a model by what Ollama says of it, before it is asked anything. */
export const usableModel = (settings: OllamaSettings, info: ModelInfo): Either.Either<UsableModel, WorkFailed> => {
  const { model, numCtx, think } = settings
  const can = (capability: string) => info.capabilities.includes(capability)
  if (info.remoteHost !== null && !settings.allowRemote) {
    return Either.left(new WorkFailed({ text: FailureText.remoteModel(model, info.remoteHost) }))
  }
  if (!can("tools")) return Either.left(new WorkFailed({ text: FailureText.noTools(model) }))
  return Either.right({
    name: model,
    numCtx: Math.min(numCtx, info.contextLength ?? numCtx),
    vision: can("vision"),
    // where nothing is sent, servers differ in whether the model thinks, and where its thinking goes
    think: can("thinking") ? (think === "auto" ? true : think) : undefined
  })
}
