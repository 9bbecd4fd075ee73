import { Effect, Option } from "effect"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import type { Message } from "../domain/Message.ts"
import type { RunnableTask } from "../domain/Task.ts"
import { OllamaClient } from "../ollama/OllamaClient.ts"
import { SessionRepo } from "../store/SessionRepo.ts"
import { TaskRepo } from "../store/TaskRepo.ts"
import { ToolBox, type ToolOffer } from "../tools/ToolBox.ts"
import { ContextWindow } from "./ContextWindow.ts"
import { type Conversation, conversationOf } from "./Conversation.ts"
import { FailureText } from "./FailureText.ts"
import type { Job } from "./Job.ts"
import { Limits } from "./Limits.ts"
import { usableModel } from "./ModelCheck.ts"
import { ollamaFailureText } from "./OllamaFailureText.ts"
import { systemPrompt } from "./Prompt.ts"
import { answerOpenCalls } from "./ToolTurn.ts"
import { WorkFailed } from "./WorkFailed.ts"

/** What the task is to start with: its answer, where it had one before a restart, or the work. */
export type Start =
  | { readonly _tag: "Answered"; readonly answer: string }
  | { readonly _tag: "Ready"; readonly job: Job }

/**
 * Takes up a task where its stored messages end. All that can be known to be wrong before the model is asked
 * (server, model, capabilities, images) is a failure here.
 */
export const startJob = Effect.fn("AgentLoop.start")(function* (task: RunnableTask, offer: ToolOffer) {
  const [ollama, tools, tasks, sessions] = yield* Effect.all([OllamaClient, ToolBox, TaskRepo, SessionRepo])
  const record: Job["record"] = (progress) =>
    Effect.zipRight(tasks.record(task.id, progress), Effect.forEach(progress.events ?? [], logged, { discard: true }))
  const stored = conversationOf(yield* sessions.history(task.sessionId), task)
  const last = stored.own.at(-1)
  if (last?._tag === "assistant" && last.toolCalls.length === 0) {
    return { _tag: "Answered", answer: last.content } satisfies Start
  }
  const { baseUrl, model: name, numCtx } = task.settings.ollama
  const info = yield* ollama
    .show(baseUrl, name)
    .pipe(
      Effect.mapError((error) => new WorkFailed({ text: ollamaFailureText(error, { model: name, numCtx, images: 0 }) }))
    )
  const model = yield* usableModel(task.settings.ollama, info)
  const own = [...stored.own, ...(yield* answerOpenCalls({ task, tools, record }, stored.openCalls))]
  const window = windowOf({ ...stored, own }, offer, {
    numCtx: model.numCtx,
    thinking: model.think !== undefined && model.think !== false,
    describe: (call) => tools.subject(call.name, call.arguments)
  })
  const images = window.imageCount()
  if (!model.vision && images.own + images.earlier > 0) {
    return yield* new WorkFailed({ text: FailureText.noVision(name, images.own > 0 ? "request" : "session") })
  }
  if (images.own + images.earlier > 0) window.attach(yield* sessions.images(window.imageHashes()))
  const before = own.length > 1 ? yield* tasks.get(task.id) : Option.none()
  const tokens = Option.match(before, { onNone: () => 0, onSome: ({ usage }) => usage.input + usage.output })
  const limits = limitsOf(task, own, tokens)
  return { _tag: "Ready", job: { task, model, offer, window, limits, ollama, tools, record } } satisfies Start
})

/** The application's log tells of each call what the audit log tells. */
const logged = ({ event, task, detail }: AuditEvent): Effect.Effect<void> =>
  Effect.logInfo(event.replace("_", " "), { task, ...detail })

const windowOf = (
  conversation: Conversation,
  offer: ToolOffer,
  options: Pick<ConstructorParameters<typeof ContextWindow>[0], "numCtx" | "thinking" | "describe">
): ContextWindow => {
  const window = new ContextWindow({ system: systemPrompt(offer), tools: offer.definitions, ...options }, conversation)
  window.fit()
  return window
}

const limitsOf = (task: RunnableTask, own: ReadonlyArray<Message>, tokens: number): Limits => {
  const replies = own.filter((message) => message._tag === "assistant")
  // of a call that Ollama could not read only what the model was told of it is stored
  const unread = own.filter(
    (message, index) => message._tag === "user" && index > 0 && own[index - 1]?._tag !== "assistant"
  )
  const limits = new Limits(task.settings.agent, { turns: replies.length + unread.length, tokens })
  for (const { toolCalls } of replies) if (toolCalls.length > 0) limits.seeCalls(toolCalls)
  return limits
}
