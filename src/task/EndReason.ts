import { Cause, Effect, Option } from "effect"
import type { AgentFailed } from "../agent/AgentLoop.ts"
import type { WorkspaceNotMade } from "../config/FallbackWorkspace.ts"
import type { Locale } from "../domain/Settings.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"

type WorkError = AgentFailed | StoreFailed | WorkspaceNotMade

/** Why a task failed and what mends it, as its result tells it; a defect's details are for the log alone. */
export const reasonOf = (cause: Cause.Cause<WorkError>, locale: Locale): string => {
  const error = Option.getOrUndefined(Cause.failureOption(cause))
  switch (error?._tag) {
    case "AgentFailed":
      return error.reason
    case "StoreFailed":
      return error.text[locale]
    case "WorkspaceNotMade":
      return `${texts.workspace[locale]} ${error.folder}: ${error.reason}`
    case undefined:
      return texts.defect[locale]
  }
}

/** A failure is an outcome of the work; a defect is ours. */
export const logFailure = (cause: Cause.Cause<WorkError>) =>
  Cause.isDie(cause) ? Effect.logError("a task ended by a defect", cause) : Effect.logInfo("a task failed", cause)

const texts = {
  workspace: { ja: "ワークスペースを作れませんでした。", en: "The workspace could not be made." },
  defect: {
    ja: "内部エラーでタスクを続けられませんでした。詳しくはアプリケーションログを見てください。",
    en: "An internal error ended the task. The application log has the details."
  }
}
