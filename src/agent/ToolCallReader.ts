import { Data } from "effect"
import type { ChatReply, RawToolCall, ToolDefinition } from "../ollama/OllamaSchema.ts"
import { readEnd, readWhole } from "./TextCalls.ts"

/** Why a reply is of no use; the model is told, and asked again. */
export type Setback = "empty" | "onlyThinking" | "cut" | "cutThinking" | "callInProse" | "brokenCall" | "badToolCall"

/** What a reply is. `content` is what was said beside calls; `thinking` is never part of it. */
export type Reading = Data.TaggedEnum<{
  Calls: { readonly content: string; readonly thinking: string; readonly calls: ReadonlyArray<RawToolCall> }
  Answer: { readonly content: string; readonly thinking: string }
  Useless: { readonly content: string; readonly thinking: string; readonly why: Setback }
}>
export const Reading = Data.taggedEnum<Reading>()

/**
 * Reads a whole turn. Calls written as text count only where the whole content is calls to known tools; a call
 * that follows other words is of no use, and a quoted one with words after it belongs to the answer.
 */
export const readReply = (reply: ChatReply, tools: ReadonlyArray<ToolDefinition>): Reading => {
  const { content, thinking } = separateThinking(reply)
  if (reply.toolCalls.length > 0) return Reading.Calls({ content, thinking, calls: reply.toolCalls })
  const useless = (why: Setback) => Reading.Useless({ content, thinking, why })
  const text = content.trim()
  const cut = reply.doneReason === "length"
  if (text === "") return useless(thinking === "" ? (cut ? "cut" : "empty") : cut ? "cutThinking" : "onlyThinking")
  const whole = readWhole(text, tools)
  if (whole._tag === "Calls") return Reading.Calls({ content: "", thinking, calls: whole.calls })
  if (whole._tag === "Broken") return useless(cut ? "cut" : "brokenCall")
  if (cut) return useless("cut")
  const end = readEnd(text, tools)
  if (end._tag === "Calls") return useless("callInProse")
  if (end._tag === "Broken") return useless("brokenCall")
  return Reading.Answer({ content, thinking })
}

/** Some servers leave the tags of the thinking in the content, and some templates only the closing one. */
const separateThinking = (reply: ChatReply): { readonly content: string; readonly thinking: string } => {
  const closed =
    /^\s*<think(?:ing)?>([\s\S]*?)<\/think(?:ing)?>/.exec(reply.content) ??
    /^([\s\S]*?\n)<\/think(?:ing)?>(?=\s*\n)/.exec(reply.content)
  if (closed !== null) {
    return { content: reply.content.slice(closed[0].length).trimStart(), thinking: reply.thinking + closed[1] }
  }
  const open = /^\s*<think(?:ing)?>/.exec(reply.content)
  if (open === null) return { content: reply.content, thinking: reply.thinking }
  return { content: "", thinking: reply.thinking + reply.content.slice(open[0].length) }
}
