import type { RawToolCall, ToolDefinition } from "../ollama/OllamaSchema.ts"

/** A call in angle brackets at the start of a text, its length with all of its tags, or one that never ends. */
export type XmlCall =
  | { readonly _tag: "Call"; readonly call: RawToolCall; readonly length: number }
  | { readonly _tag: "Cut" }
  | { readonly _tag: "None" }

/**
 * Reads `<function=read_file><parameter=path>a</parameter></function>` (with or without `<tool_call>` around it),
 * `<function=read_file>{…}</function>`, `<invoke name="read_file">…</invoke>` and `<read_file><path>a</path></read_file>`.
 */
export const readXmlCall = (text: string, tools: ReadonlyArray<ToolDefinition>): XmlCall => {
  const wrapper = /^<(tool_call|function_calls?)>\s*(?=<)/.exec(text)
  const inner = wrapper === null ? text : text.slice(wrapper[0].length)
  const found = readElement(inner, tools)
  if (wrapper === null || found._tag !== "Call") return found
  const close = new RegExp(`^\\s*</${wrapper[1]}>`).exec(inner.slice(found.length))
  return { ...found, length: wrapper[0].length + found.length + (close?.[0].length ?? 0) }
}

const readElement = (text: string, tools: ReadonlyArray<ToolDefinition>): XmlCall => {
  const opening =
    /^<(?<tag>function)=(?<name>[^\s>]+)>/.exec(text) ??
    /^<(?<tag>function|invoke)\s+name="(?<name>[^"]*)"\s*>/.exec(text) ??
    /^<(?<tag>(?<name>[a-z_]+))>/.exec(text)
  const { tag, name } = opening?.groups ?? {}
  if (opening === null || tag === undefined || name === undefined) return { _tag: "None" }
  const tool = tools.find((each) => each.function.name === name)
  if (tag === name && tool === undefined) return { _tag: "None" }
  const close = text.indexOf(`</${tag}>`, opening[0].length)
  const started = /^\s*[<{]/.test(text.slice(opening[0].length))
  if (close === -1) return started ? { _tag: "Cut" } : { _tag: "None" }
  const body = text.slice(opening[0].length, close)
  const args = body.trimStart().startsWith("{") ? body : readParameters(body, tool)
  if (args === undefined) return { _tag: "None" }
  return { _tag: "Call", call: { name, arguments: args }, length: close + tag.length + 3 }
}

const PARAMETER =
  /<(?:parameter=(?<qwen>[^\s>]+)|parameter\s+name="(?<invoke>[^"]+)"|(?<plain>[A-Za-z_]\w*))>(?<value>[\s\S]*?)<\/(?:parameter|\k<plain>)>/g

/** The parameters in `body`, or undefined where something else stands between them. */
const readParameters = (body: string, tool: ToolDefinition | undefined): Record<string, unknown> | undefined => {
  if (body.replace(PARAMETER, "").trim() !== "") return undefined
  return Object.fromEntries(
    [...body.matchAll(PARAMETER)].map(({ groups = {} }) => {
      const name = groups.qwen ?? groups.invoke ?? groups.plain ?? ""
      return [name, typedValue(groups.value ?? "", typeOf(tool, name))]
    })
  )
}

/** Everything between tags is text: a line break at either end belongs to the layout. */
const typedValue = (written: string, type: unknown): unknown => {
  const text = written.replace(/^\r?\n/, "").replace(/\r?\n$/, "")
  if (type === "string" || type === undefined) return text
  const word = text.trim()
  if (word === "true" || word === "false") return word === "true"
  return /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : text
}

const typeOf = (tool: ToolDefinition | undefined, name: string): unknown => {
  const schema = tool?.function.parameters as
    | { readonly properties?: Readonly<Record<string, { readonly type?: unknown }>> }
    | undefined
  const properties = schema?.properties ?? {}
  return Object.hasOwn(properties, name) ? properties[name]?.type : undefined
}
