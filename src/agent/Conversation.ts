import { AssistantMessage, type Message, ToolMessage, UserMessage } from "../domain/Message.ts"
import type { TaskId } from "../domain/Task.ts"
import type { ToolCall } from "../domain/ToolCall.ts"
import type { StoredMessage } from "../store/SessionRepo.ts"
import { INTERRUPTED, UNFINISHED } from "./Prompt.ts"

/** A session as one of its tasks sees it. The first message of every task is its request. */
export interface Conversation {
  /** The tasks that were over before this one began, oldest first: every call answered, every task closed. */
  readonly earlier: ReadonlyArray<ReadonlyArray<Message>>
  /** What the task itself has said and done so far. */
  readonly own: ReadonlyArray<Message>
  /** Calls of the task that a restart left without a result. */
  readonly openCalls: ReadonlyArray<ToolCall>
}

/**
 * Tasks of one session are accepted in the order in which they run, but the request of a waiting task is stored
 * between the messages of a running one: so each task's messages are put together, and later tasks left out.
 */
export const conversationOf = (
  history: ReadonlyArray<StoredMessage>,
  task: { readonly id: TaskId; readonly request: string }
): Conversation => {
  const byTask = new Map<TaskId, Array<Message>>()
  for (const { taskId, message } of history) {
    const group = byTask.get(taskId)
    if (group === undefined) byTask.set(taskId, [message])
    else group.push(message)
  }
  const own = byTask.get(task.id) ?? [new UserMessage({ content: task.request, images: [] })]
  const ids = [...byTask.keys()]
  const before = byTask.has(task.id) ? ids.slice(0, ids.indexOf(task.id)) : ids
  return { earlier: before.map((id) => closed(byTask.get(id)!)), own, openCalls: openCallsOf(own) }
}

/** The result of a call of which nobody knows how far it got. */
export const interrupted = (call: ToolCall): ToolMessage =>
  new ToolMessage({ callId: call.id, toolName: call.name, outcome: "interrupted", content: INTERRUPTED, changed: [] })

const closed = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const answered = [...messages, ...openCallsOf(messages).map(interrupted)]
  const last = answered.at(-1)
  return last?._tag === "assistant" && last.toolCalls.length === 0
    ? answered
    : [...answered, new AssistantMessage({ content: UNFINISHED, thinking: "", toolCalls: [] })]
}

/** Only the last turn can have calls without a result, since every result is stored before the next turn. */
const openCallsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<ToolCall> => {
  const asked = messages.findLast((message) => message._tag === "assistant")
  if (asked?._tag !== "assistant") return []
  const answered = new Set(
    messages.slice(messages.indexOf(asked)).flatMap((message) => (message._tag === "tool" ? [message.callId] : []))
  )
  return asked.toolCalls.filter((call) => !answered.has(call.id))
}
