import { Duration, Effect, Either } from "effect"
import type { AuditEvent } from "../domain/AuditEvent.ts"
import { ToolMessage } from "../domain/Message.ts"
import { ToolCall } from "../domain/ToolCall.ts"
import type { RawToolCall } from "../ollama/OllamaSchema.ts"
import type { ToolResult } from "../tools/ToolBox.ts"
import { interrupted } from "./Conversation.ts"
import type { Job } from "./Job.ts"
import { REPEATED } from "./Prompt.ts"
import { readArguments } from "./ToolArguments.ts"

/** A call that may be stored and run, or why it is not run. */
export interface PreparedCall {
  readonly call: ToolCall
  readonly problem: string | null
}

export const CHAT = "ollama chat"

const MAX_CALLS = 32

/** Gives the calls of turn number `turn` ids of our own and arguments that are objects. */
export const prepareCalls = (calls: ReadonlyArray<RawToolCall>, turn: number): ReadonlyArray<PreparedCall> =>
  calls.map((raw, index) => {
    const args = readArguments(raw.arguments)
    const call = new ToolCall({
      id: `${turn}.${index + 1}`,
      name: raw.name === "" ? "unnamed" : raw.name,
      arguments: Either.getOrElse(args, () => ({}))
    })
    if (index >= MAX_CALLS)
      return { call, problem: `Only the first ${MAX_CALLS} calls of a turn are run. Call it again.` }
    return { call, problem: Either.isLeft(args) ? args.left : null }
  })

/**
 * Runs the calls one after the other. Each result is stored before the next call begins, together with what is
 * done next. Interruption ends the running call, which stays without a result.
 */
export const runCalls = Effect.fn("AgentLoop.runCalls")(function* (
  job: Job,
  calls: ReadonlyArray<PreparedCall>,
  repeated: boolean
) {
  for (const [index, prepared] of calls.entries()) {
    const { call } = prepared
    const [took, result] = yield* runCall(job, prepared)
    const message = new ToolMessage({
      callId: call.id,
      toolName: call.name,
      outcome: result.outcome,
      content: repeated ? result.text + REPEATED : result.text,
      changed: result.changed
    })
    job.window.add(message)
    const next = calls[index + 1]
    yield* job.record({
      messages: [message],
      events: [toolEvent(job, call, result.outcome, result.outcome === "ok" ? null : firstLine(result.text), took)],
      currentTask: next === undefined ? CHAT : subjectOf(job, next.call)
    })
  }
})

export const subjectOf = (job: Job, call: ToolCall): string => job.tools.subject(call.name, call.arguments)

/** Answers calls that a restart left open, in one commit. */
export const answerOpenCalls = (job: Pick<Job, "task" | "tools" | "record">, calls: ReadonlyArray<ToolCall>) => {
  const messages = calls.map(interrupted)
  const events = calls.map((call) => toolEvent(job, call, "interrupted", "the program was restarted", Duration.zero))
  return calls.length === 0 ? Effect.succeed(messages) : Effect.as(job.record({ messages, events }), messages)
}

const runCall = (job: Job, { call, problem }: PreparedCall): Effect.Effect<[Duration.Duration, ToolResult]> => {
  if (problem !== null) return Effect.succeed([Duration.zero, { outcome: "error", text: problem, changed: [] }])
  const environment = { taskId: job.task.id, settings: job.task.settings }
  return job.tools.call(environment, call.name, call.arguments).pipe(
    Effect.timed,
    Effect.withSpan(`execute_tool ${call.name.slice(0, 60)}`, {
      attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name }
    }),
    // the call stays without a result: whoever ends or resumes the task tells of it
    Effect.onInterrupt(() =>
      job
        .record({ events: [toolEvent(job, call, "interrupted", "the work was stopped", Duration.zero)] })
        .pipe(Effect.ignoreLogged)
    )
  )
}

/** What follows it may be a file's text or a command's output, which no log may hold. */
const firstLine = (text: string): string => text.split("\n", 1)[0]!.slice(0, 500)

const toolEvent = (
  job: Pick<Job, "task" | "tools">,
  call: ToolCall,
  outcome: ToolResult["outcome"],
  reason: string | null,
  took: Duration.Duration
): AuditEvent => ({
  event: "tool_call",
  task: job.task.id,
  session: job.task.sessionId,
  detail: {
    tool: call.name,
    subject: job.tools.subject(call.name, call.arguments),
    outcome,
    ms: Math.round(Duration.toMillis(took)),
    ...(reason === null ? {} : { reason })
  }
})
