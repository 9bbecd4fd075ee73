import { Option } from "effect"
import type { RawToolCall, ToolDefinition } from "../ollama/OllamaSchema.ts"
import { endOfValue, isObject, parseLoose } from "./LooseJson.ts"
import { readXmlCall } from "./XmlCalls.ts"

/**
 * What was found where calls might be written as text. `marked` calls carry a marker that nothing but a
 * call has (`<tool_call>`), whatever their name. `Broken` starts like a call but cannot be read as one.
 */
export type Found =
  | { readonly _tag: "Calls"; readonly calls: ReadonlyArray<RawToolCall>; readonly marked: boolean }
  | { readonly _tag: "Broken" }
  | { readonly _tag: "Nothing" }

/** Reads `text` as nothing but calls, from its first character to its last. */
export const readWhole = (text: string, tools: ReadonlyArray<ToolDefinition>): Found => {
  const calls: Array<RawToolCall> = []
  let marked = false
  let at = skip(text, 0)
  while (at < text.length) {
    const block = readBlock(text, at, tools)
    if (block._tag !== "Block") return block
    calls.push(...block.calls)
    marked ||= block.marked
    at = skip(text, block.end)
  }
  const known = calls.every((call) => tools.some((tool) => tool.function.name === call.name))
  return calls.length > 0 && (marked || known) ? { _tag: "Calls", calls, marked } : nothing
}

/** Looks for calls that follow other words and run to the end of `text`. */
export const readEnd = (text: string, tools: ReadonlyArray<ToolDefinition>): Found => {
  for (const start of [...starts(text, MARKS, 64), ...starts(text, LINES, 16)]) {
    const found = readWhole(text.slice(start), tools)
    if (found._tag !== "Nothing") return found
  }
  return nothing
}

const MARKS = /<tool_call>|\[TOOL_CALLS\]|<\|python_tag\|>|<function|<invoke|```/g
const LINES = /^[ \t]*(?:[{[]|<[a-z_]+>)/gm

/** Where a call may start: the last of them only, which bounds the work on a long answer. */
const starts = (text: string, pattern: RegExp, most: number): ReadonlyArray<number> =>
  [...text.matchAll(pattern)].slice(-most).map((match) => match.index)

type Block =
  | {
      readonly _tag: "Block"
      readonly calls: ReadonlyArray<RawToolCall>
      readonly end: number
      readonly marked: boolean
    }
  | Exclude<Found, { readonly _tag: "Calls" }>

const nothing: Found & Block = { _tag: "Nothing" }
const broken: Found & Block = { _tag: "Broken" }

const skip = (text: string, at: number): number => {
  let end = at
  while (end < text.length && /[\s;,]/.test(text[end]!)) end++
  return end
}

const readBlock = (text: string, at: number, tools: ReadonlyArray<ToolDefinition>): Block => {
  const rest = text.slice(at)
  const xml = readXmlCall(rest, tools)
  if (xml._tag === "Call") return { _tag: "Block", calls: [xml.call], end: at + xml.length, marked: true }
  if (xml._tag === "Cut") return broken
  const opening = /^(?:<(tool_call|function_call|function_calls|tools?)>|\[TOOL_CALLS\]|<\|python_tag\|>)\s*/.exec(rest)
  if (opening !== null) return readMarked(text, at + opening[0].length, opening[1])
  const fence = /^```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```/.exec(rest)
  if (fence !== null) return readFenced(fence[1]!, at + fence[0].length, tools)
  if (rest.startsWith("{") || rest.startsWith("[")) return readBare(text, at, tools)
  return nothing
}

/** Calls behind a marker, up to the closing tag where there is one. */
const readMarked = (text: string, start: number, tag: string | undefined): Block => {
  const named =
    tag === undefined ? /^([\w.-]+)\s*(?:\[CALL_ID\]\w+\s*)?(?:\[ARGS\])?\s*(?=\{)/.exec(text.slice(start)) : null
  const from = start + (named?.[0].length ?? 0)
  if (text[from] !== "{" && text[from] !== "[") return nothing
  const close = tag === undefined ? "" : `</${tag}>`
  const end = endOfMarked(text, from, close)
  const body = text.slice(from, end).trim()
  const calls = Option.flatMap(parseLoose(body), (value) =>
    named === null ? callsIn(value, true) : Option.some([{ name: named[1]!, arguments: value }])
  )
  const behind = text.startsWith(close, end) ? end + close.length : end
  // what is followed by other words is a quotation, however it is written
  if (Option.isNone(calls)) return text.slice(behind).trim() === "" ? broken : nothing
  return { _tag: "Block", calls: calls.value, end: behind, marked: true }
}

// a closing tag may stand inside an argument, so the value's own end comes first
const endOfMarked = (text: string, from: number, close: string): number => {
  const value = endOfValue(text, from)
  const after = value === -1 ? -1 : value + (/^\s*/.exec(text.slice(value))?.[0].length ?? 0)
  if (after !== -1 && (after === text.length || close === "" || text.startsWith(close, after))) {
    return text.startsWith(close, after) ? after : value
  }
  const closing = close === "" ? -1 : text.indexOf(close, from)
  return closing === -1 ? text.length : closing
}

const readFenced = (body: string, end: number, tools: ReadonlyArray<ToolDefinition>): Block => {
  const inside = readWhole(body, tools)
  return inside._tag === "Calls" ? { _tag: "Block", calls: inside.calls, end, marked: inside.marked } : nothing
}

const readBare = (text: string, at: number, tools: ReadonlyArray<ToolDefinition>): Block => {
  const close = endOfValue(text, at)
  const end = close === -1 ? text.length : close
  const value = parseLoose(text.slice(at, end))
  const meant = /^[{[\s]*["']?(?:name|function|tool)["']?\s*:\s*["']([\w.-]+)/.exec(text.slice(at))?.[1]
  if (Option.isNone(value) && tools.some((tool) => tool.function.name === meant)) return broken
  return Option.match(
    Option.flatMap(value, (calls) => callsIn(calls, false)),
    {
      onNone: () => nothing,
      onSome: (calls) => ({ _tag: "Block" as const, calls, end, marked: false })
    }
  )
}

const ENVELOPE = new Set(["type", "id", "name", "function", "tool", "tool_name", "arguments", "parameters", "args"])

/** The calls that a JSON value is, in any of the shapes that models are trained on. */
const callsIn = (value: unknown, lenient: boolean): Option.Option<ReadonlyArray<RawToolCall>> => {
  if (Array.isArray(value)) {
    return value.length === 0
      ? Option.none()
      : Option.map(Option.all(value.map((each) => callsIn(each, lenient))), (all) => all.flat())
  }
  if (!isObject(value)) return Option.none()
  if (Array.isArray(value.tool_calls) && Object.keys(value).length === 1) return callsIn(value.tool_calls, lenient)
  if (isObject(value.function)) return callsIn(value.function, lenient)
  const name = value.name ?? value.tool_name ?? value.tool ?? value.function
  const argumentsKey = ["arguments", "parameters", "args"].find((key) => Object.hasOwn(value, key))
  const plain = Object.keys(value).every((key) => ENVELOPE.has(key))
  if (typeof name !== "string" || !plain || (argumentsKey === undefined && !lenient)) return Option.none()
  return Option.some([{ name, arguments: argumentsKey === undefined ? undefined : value[argumentsKey] }])
}
