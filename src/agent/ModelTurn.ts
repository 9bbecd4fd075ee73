import { Duration, Effect, Either } from "effect"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import type { TokenUsage } from "../domain/Task.ts"
import type { OllamaBadToolCall, OllamaError } from "../ollama/OllamaError.ts"
import type { ChatReply, ChatRequest } from "../ollama/OllamaSchema.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { FailureText } from "./FailureText.ts"
import type { Job } from "./Job.ts"
import { ollamaFailureText } from "./OllamaFailureText.ts"
import { WorkFailed } from "./WorkFailed.ts"

/** A turn of the model, with what is still to be written down of it. */
export interface ModelTurn {
  readonly said: Either.Either<ChatReply, OllamaBadToolCall>
  readonly usage: TokenUsage
  readonly events: ReadonlyArray<AuditEvent>
}

const MAX_SHORTENINGS = 3

/**
 * Asks the model what to do next. Where the prompt does not fit, it is shortened and the model asked again, three
 * times at the most. Whatever failed is in the audit log when this fails.
 */
export const askModel = Effect.fn("AgentLoop.ask")(function* (job: Job) {
  job.window.fit()
  for (let shortenings = 0; ; shortenings++) {
    const turn = yield* askOnce(job)
    if (turn._tag === "Asked") return turn.turn
    yield* job.record({ usage: turn.usage, events: turn.events })
    const mended = turn.overflow !== null && shortenings < MAX_SHORTENINGS && job.window.refused(turn.overflow)
    if (!mended) return yield* new WorkFailed({ text: turn.text() })
  }
})

type Attempt =
  | { readonly _tag: "Asked"; readonly turn: ModelTurn }
  | {
      readonly _tag: "Refused"
      readonly usage: TokenUsage
      readonly events: ReadonlyArray<AuditEvent>
      /** Told when it is known what the window has learnt of it. */
      readonly text: () => WorkFailed["text"]
      /** What was said of a prompt that did not fit; null where something else was wrong. */
      readonly overflow: string | null
    }

const askOnce = (job: Job): Effect.Effect<Attempt, StoreFailed> =>
  job.ollama.chat(job.task.settings.ollama.baseUrl, requestOf(job)).pipe(
    Effect.tap(({ promptTokens, outputTokens }) =>
      Effect.annotateCurrentSpan({
        "gen_ai.usage.input_tokens": promptTokens,
        "gen_ai.usage.output_tokens": outputTokens
      })
    ),
    Effect.withSpan(`chat ${job.model.name}`, {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "ollama",
        "gen_ai.request.model": job.model.name
      }
    }),
    Effect.either,
    Effect.timed,
    Effect.onInterrupt(() =>
      job.record({ events: [eventOf(job, { error: "interrupted" })] }).pipe(Effect.ignoreLogged)
    ),
    Effect.map(([took, result]): Attempt => {
      const ms = Math.round(Duration.toMillis(took))
      if (Either.isLeft(result)) return failedAttempt(job, result.left, ms)
      const reply = result.right
      const usage = usageOf(reply)
      job.limits.spend(usage.input + usage.output)
      const detail = { input: reply.promptTokens, output: reply.outputTokens, ms, doneReason: reply.doneReason }
      if (job.window.learnCount(reply.promptTokens)) {
        return { _tag: "Asked", turn: { said: Either.right(reply), usage, events: [eventOf(job, detail)] } }
      }
      const overflow = `context overflow: Ollama read only ${reply.promptTokens} tokens of about ${job.window.estimate()}`
      return {
        _tag: "Refused",
        usage,
        events: [eventOf(job, { ...detail, error: overflow })],
        text: () => FailureText.contextOverflow(job.window.numCtx, imagesIn(job)),
        overflow
      }
    })
  )

const failedAttempt = (job: Job, error: OllamaError, ms: number): Attempt => {
  const usage = "usage" in error ? error.usage : { input: 0, output: 0 }
  const events = [eventOf(job, { ms, error: `${error._tag}: ${reasonOf(error)}` })]
  if (error._tag === "OllamaBadToolCall") return { _tag: "Asked", turn: { said: Either.left(error), usage, events } }
  const overflow = error._tag === "OllamaContextExceeded" ? error.message : null
  const at = () => ({ model: job.model.name, numCtx: job.window.numCtx, images: imagesIn(job) })
  const text = () => ollamaFailureText(error, at())
  return { _tag: "Refused", usage, events, text, overflow }
}

const reasonOf = (error: OllamaError): string => (error._tag === "OllamaUnreachable" ? error.reason : error.message)

/** Attempts that broke off before the reply are counted, too. */
const usageOf = ({ promptTokens, outputTokens, retriedUsage }: ChatReply): TokenUsage => ({
  input: (promptTokens ?? 0) + (retriedUsage?.input ?? 0),
  output: (outputTokens ?? 0) + (retriedUsage?.output ?? 0)
})

const imagesIn = (job: Job): number => {
  const { own, earlier } = job.window.imageCount()
  return own + earlier
}

const requestOf = ({ task, model, offer, window }: Job): ChatRequest => {
  const { keepAlive, temperature: usual } = task.settings.ollama
  const temperature = task.temperature ?? usual
  return {
    model: model.name,
    messages: window.messages(),
    tools: offer.definitions,
    options: { num_ctx: model.numCtx, ...(temperature === null ? {} : { temperature }) },
    keepAlive,
    ...(model.think === undefined ? {} : { think: model.think })
  }
}

const eventOf = (job: Job, detail: NonNullable<AuditEvent["detail"]>): AuditEvent => ({
  event: "model_call",
  task: job.task.id,
  session: job.task.sessionId,
  detail: { model: job.model.name, ...detail }
})
