import type { ImageRef } from "../domain/Image.ts"
import type { Message } from "../domain/Message.ts"
import type { ToolCall } from "../domain/ToolCall.ts"
import type { ChatMessage } from "../ollama/OllamaSchema.ts"
import { shortened } from "./Prompt.ts"

/** One message in the window. `chat` is what is sent, and stays the same object as long as it is not shortened. */
export interface WindowItem {
  chat: ChatMessage
  bytes: number
  images: ReadonlyArray<ImageRef>
}

/** What leaves the window together: a request, or a turn with its calls, their results and what was said to it. */
export interface WindowUnit {
  readonly kind: "request" | "turn"
  readonly own: boolean
  readonly items: Array<WindowItem>
  readonly calls: ReadonlyArray<ToolCall>
}

/** None for a message that says nothing: a reply that only thought, say. */
export const itemOf = (message: Message, withThinking: boolean): WindowItem | null => {
  switch (message._tag) {
    case "user":
      return item({ role: "user", content: message.content }, message.images)
    case "tool":
      return item({ role: "tool", content: message.content, tool_name: message.toolName })
    case "assistant": {
      if (message.toolCalls.length === 0 && message.content.trim() === "") return null
      const calls = message.toolCalls.map(({ name, arguments: args }) => ({ function: { name, arguments: args } }))
      return item({
        role: "assistant",
        content: message.content,
        ...(withThinking && message.thinking !== "" ? { thinking: message.thinking } : {}),
        ...(calls.length > 0 ? { tool_calls: calls } : {})
      })
    }
  }
}

export const item = (chat: ChatMessage, images: ReadonlyArray<ImageRef> = []): WindowItem => ({
  chat,
  bytes: bytesOf(chat),
  images
})

/** Cuts the middle out of a tool's result so that about `most` characters stay; false where it is that short already. */
export const shortenItem = (target: WindowItem, most: number): boolean => {
  const { content, role } = target.chat
  const left = content.length - most
  if (role !== "tool" || left < MARK_ROOM) return false
  const half = Math.floor(most / 2)
  const head = content.slice(0, half).replace(/[\uD800-\uDBFF]$/, "")
  const tail = content.slice(content.length - half).replace(/^[\uDC00-\uDFFF]/, "")
  target.chat = { ...target.chat, content: head + shortened(left) + tail }
  target.bytes = bytesOf(target.chat)
  return true
}

const MARK_ROOM = 80
const FRAME = 24 // what a template puts around a message

const bytesOf = (chat: ChatMessage): number =>
  FRAME +
  Buffer.byteLength(chat.content) +
  Buffer.byteLength(chat.thinking ?? "") +
  (chat.tool_calls === undefined ? 0 : Buffer.byteLength(JSON.stringify(chat.tool_calls)))
