import { Context, Effect, Either, Layer, Schema } from "effect"
import { AssistantMessage, UserMessage } from "../domain/Message.ts"
import type { RunnableTask } from "../domain/Task.ts"
import type { OllamaClient } from "../ollama/OllamaClient.ts"
import type { SessionRepo } from "../store/SessionRepo.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import type { TaskRepo } from "../store/TaskRepo.ts"
import { ToolBox, type ToolOffer } from "../tools/ToolBox.ts"
import { FailureText } from "./FailureText.ts"
import type { Job } from "./Job.ts"
import { withinDuration } from "./Limits.ts"
import { askModel, type ModelTurn } from "./ModelTurn.ts"
import { nudge } from "./Prompt.ts"
import { startJob } from "./StartJob.ts"
import { Reading, readReply, type Setback } from "./ToolCallReader.ts"
import { CHAT, prepareCalls, runCalls, subjectOf } from "./ToolTurn.ts"
import { WorkFailed } from "./WorkFailed.ts"

/** The work could not be done; `reason` says why and what mends it, in the task's language. */
export class AgentFailed extends Schema.TaggedError<AgentFailed>()("AgentFailed", { reason: Schema.String }) {}

export class AgentLoop extends Context.Tag("sagyo/agent/AgentLoop")<
  AgentLoop,
  {
    /**
     * Works on the task until it has an answer, and gives it. Every turn and every tool result is
     * stored before the next begins. Who calls records the end; interruption stops the model and every process.
     */
    readonly run: (task: RunnableTask) => Effect.Effect<string, AgentFailed | StoreFailed>
  }
>() {
  static readonly layer = Layer.effect(
    AgentLoop,
    Effect.gen(function* () {
      const tools = yield* ToolBox
      const context = yield* Effect.context<OllamaClient | ToolBox | TaskRepo | SessionRepo>()
      const run = Effect.fn("AgentLoop.run")(function* (task: RunnableTask) {
        const { locale, agent } = task.settings
        const offer = yield* tools.offer({ taskId: task.id, settings: task.settings })
        return yield* withinDuration(
          work(task, offer),
          agent.maxDuration,
          () => new WorkFailed({ text: FailureText.duration(agent.maxDuration) })
        ).pipe(
          Effect.catchTag("WorkFailed", ({ text }) =>
            Effect.fail(new AgentFailed({ reason: FailureText.withWithheld(text, offer.withheld)[locale] }))
          )
        )
      })
      return { run: (task: RunnableTask) => Effect.mapInputContext(run(task), () => context) }
    })
  )
}

const work = Effect.fn("AgentLoop.work")(function* (task: RunnableTask, offer: ToolOffer) {
  const start = yield* startJob(task, offer)
  if (start._tag === "Answered") return start.answer
  const { job } = start
  yield* job.record({ status: "running", currentTask: CHAT, steps: { completed: 0, planned: 1 } })
  while (true) {
    const limit = job.limits.beginTurn()
    if (limit !== null) return yield* new WorkFailed({ text: limit })
    const turn = yield* askModel(job)
    const answer = yield* Either.match(turn.said, {
      onLeft: (error) => tryAgain(job, turn, { why: "badToolCall", content: "", thinking: "", detail: error.message }),
      onRight: (reply) =>
        Reading.$match(readReply(reply, job.offer.definitions), {
          Answer: (reading) => finish(job, turn, reading),
          Calls: (reading) => act(job, turn, reading),
          Useless: (reading) => tryAgain(job, turn, { ...reading, detail: "" })
        })
    })
    if (answer !== null) return answer
  }
})

type Step = Effect.Effect<string | null, WorkFailed | StoreFailed>
type Read<Tag extends Reading["_tag"]> = Extract<Reading, { readonly _tag: Tag }>

const finish = (job: Job, turn: ModelTurn, { content, thinking }: Read<"Answer">): Step =>
  Effect.as(
    job.record({
      usage: turn.usage,
      events: turn.events,
      messages: [new AssistantMessage({ content, thinking, toolCalls: [] })],
      steps: { completed: 1, planned: 1 },
      currentTask: ""
    }),
    content
  )

const act = (job: Job, turn: ModelTurn, { content, thinking, calls }: Read<"Calls">): Step =>
  Effect.gen(function* () {
    const prepared = prepareCalls(calls, job.limits.turns)
    const subject = subjectOf(job, prepared[0]!.call)
    const seen = job.limits.seeCalls(prepared.map(({ call }) => call))
    if (seen === "stuck") {
      yield* job.record({ usage: turn.usage, events: turn.events })
      return yield* new WorkFailed({ text: FailureText.sameCalls(subject) })
    }
    const message = new AssistantMessage({ content, thinking, toolCalls: prepared.map(({ call }) => call) })
    job.window.add(message)
    yield* job.record({ usage: turn.usage, events: turn.events, messages: [message], currentTask: subject })
    yield* runCalls(job, prepared, seen === "again")
    return null
  })

/** Tells the model why its reply was of no use, or gives up. What is given up on is not stored: it is no answer. */
const tryAgain = (
  job: Job,
  turn: ModelTurn,
  said: { readonly why: Setback; readonly content: string; readonly thinking: string; readonly detail: string }
): Step =>
  Effect.gen(function* () {
    const { why, content, thinking, detail } = said
    if (!job.limits.mayRetry(why)) {
      yield* job.record({ usage: turn.usage, events: turn.events })
      return yield* new WorkFailed({ text: FailureText.useless(why, job.model.name, detail) })
    }
    const messages = [
      ...(why === "badToolCall" ? [] : [new AssistantMessage({ content, thinking, toolCalls: [] })]),
      new UserMessage({ content: nudge(why, detail), images: [] })
    ]
    for (const message of messages) job.window.add(message)
    yield* job.record({ usage: turn.usage, events: turn.events, messages })
    return null
  })
