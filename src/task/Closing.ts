import { AssistantMessage, type Message, ToolMessage } from "../domain/Message.ts"
import type { Bilingual, Locale } from "../domain/Settings.ts"
import type { TaskClosing } from "../store/TaskWrites.ts"

/** A failed end: each call of the model has an answer, and one note tells the next task what happened. */
export const failed = (history: ReadonlyArray<Message>, reason: string): TaskClosing => ({
  status: "failed",
  result: reason,
  closing: [...unanswered(history), note(`This task failed and was ended. Reason: ${reason}`)]
})

/** A cancelled end; its result tells the truth about what had been done by then. */
export const cancelled = (history: ReadonlyArray<Message>, locale: Locale): TaskClosing => ({
  status: "cancelled",
  result: changesOf(history, locale),
  closing: [...unanswered(history), note("The user cancelled this task before it was finished.")]
})

const note = (content: string) => new AssistantMessage({ content: `[${content}]`, thinking: "", toolCalls: [] })

/** Every call without a result is answered: nobody knows how far it came. */
const unanswered = (history: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const answered = new Set(history.flatMap((message) => (message._tag === "tool" ? [message.callId] : [])))
  return history
    .flatMap((message) => (message._tag === "assistant" ? message.toolCalls : []))
    .filter((call) => !answered.has(call.id))
    .map(
      (call) =>
        new ToolMessage({
          callId: call.id,
          toolName: call.name,
          outcome: "interrupted",
          content: "Interrupted: it is not known how far this call came.",
          changed: []
        })
    )
}

const changesOf = (history: ReadonlyArray<Message>, locale: Locale): string => {
  const done = [...new Set(history.flatMap((message) => (message._tag === "tool" ? message.changed : [])))]
  const open = unanswered(history).flatMap((message) => (message._tag === "tool" ? [message.toolName] : []))
  return [
    ...(done.length > 0 ? [`${texts.done[locale]}\n${done.map((change) => `- ${change}`).join("\n")}`] : []),
    ...(open.length > 0 ? [`${texts.open[locale]} ${open.join(", ")}`] : [])
  ].join("\n")
}

const texts = {
  done: { ja: "取り消しまでに変更・実行されたもの:", en: "Changed or run before the cancel:" },
  open: { ja: "途中で止められたもの（結果は不明）:", en: "Stopped half way (outcome unknown):" }
} satisfies Record<string, Bilingual>
