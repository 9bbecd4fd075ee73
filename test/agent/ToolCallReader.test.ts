import { assert, describe, it } from "@effect/vitest"
import { readReply } from "../../src/agent/ToolCallReader.ts"
import type { ChatReply } from "../../src/ollama/OllamaSchema.ts"
import { definitions } from "./harness.ts"

const reply = (content: string, fields: Partial<ChatReply> = {}): ChatReply => ({
  content,
  thinking: "",
  toolCalls: [],
  doneReason: "stop",
  promptTokens: 1,
  outputTokens: 1,
  promptMillis: null,
  ...fields
})

const read = (content: string, fields?: Partial<ChatReply>) => readReply(reply(content, fields), definitions)

/** The calls with their arguments parsed, or what else it is. */
const callsIn = (content: string, fields?: Partial<ChatReply>): unknown => {
  const reading = read(content, fields)
  if (reading._tag === "Useless") return reading.why
  if (reading._tag === "Answer") return "answer"
  return reading.calls.map(({ name, arguments: args }) => [name, typeof args === "string" ? JSON.parse(args) : args])
}

const a = [["read_file", { path: "a.txt" }]]
const json = '{"name": "read_file", "arguments": {"path": "a.txt"}}'

describe("readReply, calls written as text", () => {
  const forms: Readonly<Record<string, string>> = {
    Hermes: `<tool_call>\n${json}\n</tool_call>`,
    "Hermes without its closing tag": `<tool_call>\n${json}`,
    "Hermes in a fence": `\`\`\`xml\n<tool_call>${json}</tool_call>\n\`\`\``,
    "Qwen coder": "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
    "Qwen coder without the outer tag": "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>",
    Llama: '{"name": "read_file", "parameters": {"path": "a.txt"}}',
    "Llama with its tag": '<|python_tag|>{"name": "read_file", "parameters": {"path": "a.txt"}}',
    "Llama with a type": '{"type": "function", "name": "read_file", "parameters": {"path": "a.txt"}}',
    "Llama function tag": '<function=read_file>{"path": "a.txt"}</function>',
    OpenAI: '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.txt\\"}"}}',
    "OpenAI list": `{"tool_calls": [${json}]}`,
    Mistral: `[TOOL_CALLS][${json}]`,
    "Mistral, later": '[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}',
    "Mistral with an id": '[TOOL_CALLS]read_file[CALL_ID]abc123[ARGS]{"path": "a.txt"}',
    "fenced JSON": `\`\`\`json\n${json}\n\`\`\``,
    "a fence without a language": `\`\`\`\n${json}\n\`\`\``,
    "a list": `[${json}]`,
    invoke:
      '<function_calls><invoke name="read_file"><parameter name="path">a.txt</parameter></invoke></function_calls>',
    "a tag named like the tool": "<read_file>\n<path>a.txt</path>\n</read_file>",
    "white space around": `\n\n  ${json}  \n`
  }
  for (const [name, content] of Object.entries(forms)) {
    it(`reads ${name}`, () => {
      const found = callsIn(content)
      assert.deepStrictEqual(
        JSON.parse(JSON.stringify(found), (_, value) =>
          typeof value === "string" && value.startsWith("{") ? JSON.parse(value) : value
        ),
        a
      )
    })
  }

  it("reads several calls in their order", () => {
    const two = '{"name": "list_files", "arguments": {}}'
    const both = [a[0], ["list_files", {}]]
    assert.deepStrictEqual(callsIn(`<tool_call>${json}</tool_call>\n<tool_call>${two}</tool_call>`), both)
    assert.deepStrictEqual(callsIn(`${json}\n${two}`), both)
    assert.deepStrictEqual(callsIn(`${json}; ${two}`), both)
    assert.deepStrictEqual(callsIn(`\`\`\`json\n${json}\n\`\`\`\n\`\`\`json\n${two}\n\`\`\``), both)
  })

  it("keeps tags, fences and brackets inside arguments", () => {
    const content = "</tool_call>\n```\n[TOOL_CALLS] } ] {"
    const call = JSON.stringify({ name: "write_file", arguments: { path: "a", content } })
    const expected = [["write_file", { path: "a", content }]]
    assert.deepStrictEqual(callsIn(`<tool_call>${call}</tool_call>`), expected)
    assert.deepStrictEqual(callsIn(call), expected)
  })

  it("takes values of XML parameters for what the tool declares, and text otherwise", () => {
    const found = callsIn(
      "<function=read_file><parameter=path>\n12\n</parameter><parameter=offset>\n7\n</parameter></function>"
    )
    assert.deepStrictEqual(found, [["read_file", { path: "12", offset: 7 }]])
  })

  it("mends commas and quotes, and raw line breaks in strings", () => {
    const expected = [["write_file", { path: "a", content: "1\n2" }]]
    for (const broken of [
      '{"name": "write_file", "arguments": {"path": "a", "content": "1\n2"}}',
      '{"name": "write_file", "arguments": {"path": "a", "content": "1\\n2",},}',
      '{"name": "write_file" "arguments": {"path": "a" "content": "1\\n2"}}',
      "{'name': 'write_file', 'arguments': {'path': 'a', 'content': '1\\n2'}}"
    ]) {
      assert.deepStrictEqual(callsIn(`<tool_call>${broken}</tool_call>`), expected, broken)
      assert.deepStrictEqual(callsIn(broken), expected, broken)
    }
  })

  it("never runs a call that was cut off, wherever it was", () => {
    const content = 'if (a) { say("hi", [1, 2]) }\n'
    const call = JSON.stringify({ name: "write_file", arguments: { path: "a.ts", content } })
    for (const whole of [
      `<tool_call>${call}</tool_call>`,
      call,
      `\`\`\`json\n${call}\n\`\`\``,
      `[TOOL_CALLS][${call}]`
    ]) {
      const end = whole.lastIndexOf(call) + call.length + (whole.startsWith("[") ? 1 : 0)
      for (let length = 1; length < end; length++) {
        for (const doneReason of ["stop", "length"]) {
          assert.notStrictEqual(read(whole.slice(0, length), { doneReason })._tag, "Calls", whole.slice(0, length))
        }
      }
    }
  })

  it("sends back what starts like a call of a known tool and cannot be read", () => {
    assert.strictEqual(callsIn('<tool_call>{"name": "read_file", "arguments": {"path": "a'), "brokenCall")
    assert.strictEqual(callsIn('{"name": "read_file", "arguments": {"path": "a'), "brokenCall")
    assert.strictEqual(callsIn("<function=read_file>\n<parameter=path>\na"), "brokenCall")
    assert.strictEqual(callsIn('I look.\n<tool_call>{"name": "read_file", "argum'), "brokenCall")
  })

  it("sends back a call at the very end after other words", () => {
    assert.strictEqual(callsIn(`I will look.\n<tool_call>${json}</tool_call>`), "callInProse")
    assert.strictEqual(callsIn(`I will look.\n\n\`\`\`json\n${json}\n\`\`\``), "callInProse")
    assert.strictEqual(callsIn(`I will look.\n${json}`), "callInProse")
    assert.strictEqual(callsIn(`Sure: [TOOL_CALLS][${json}]`), "callInProse")
    const html = JSON.stringify({ name: "write_file", arguments: { path: "a", content: "<p>\n".repeat(200) } })
    assert.strictEqual(callsIn(`Here.\n<tool_call>${html.replaceAll("\\n", "\n")}</tool_call>`), "callInProse")
  })

  it("takes a quoted call with words after it for an answer", () => {
    assert.strictEqual(callsIn(`Write <tool_call>${json}</tool_call> to read it.`), "answer")
    assert.strictEqual(callsIn(`Like this:\n\`\`\`json\n${json}\n\`\`\`\nThat is all.`), "answer")
    assert.strictEqual(callsIn(`<tool_call>{"name": broken}</tool_call> is wrong.`), "answer")
    assert.strictEqual(callsIn("The model writes `<tool_call>`"), "answer")
    assert.strictEqual(callsIn("<function=read_file> is how it begins."), "answer")
  })

  it("takes JSON that is no call of a known tool for an answer", () => {
    for (const content of [
      '{"name": "Taro", "arguments": {"for": true}}',
      '{"name": "read_file"}',
      '{"name": "read_file", "arguments": {}, "price": 3}',
      "[]",
      "[1, 2]",
      "{}",
      "{ not json",
      '```json\n{"a": 1}\n```'
    ]) {
      assert.strictEqual(callsIn(content), "answer", content)
    }
  })

  it("passes on marked calls of unknown tools, so that the model is told", () => {
    assert.deepStrictEqual(callsIn('<tool_call>{"name": "toString", "arguments": {}}</tool_call>'), [["toString", {}]])
  })

  it("prefers calls that came as such, and keeps the words beside them", () => {
    const reading = read("First I look.", { toolCalls: [{ name: "read_file", arguments: { path: "a" } }] })
    assert.deepInclude(reading, { _tag: "Calls", content: "First I look." })
  })
})

describe("readReply, thinking", () => {
  it("never looks for calls in it", () => {
    assert.strictEqual(callsIn("", { thinking: `<tool_call>${json}</tool_call>` }), "onlyThinking")
    assert.strictEqual(callsIn(`<think>${json}</think>`), "onlyThinking")
  })

  it("is taken out of the content", () => {
    const expected = { _tag: "Answer" as const, content: "4" }
    assert.deepInclude(read("<think>2+2</think>\n\n4"), { ...expected, thinking: "2+2" })
    assert.deepInclude(read("2+2 is\n</think>\n\n4"), { ...expected, thinking: "2+2 is\n" })
    assert.strictEqual(callsIn("<think>it never ends"), "onlyThinking")
  })

  it("is told apart from an empty reply, cut or not", () => {
    assert.strictEqual(callsIn("  \n"), "empty")
    assert.strictEqual(callsIn("", { doneReason: "length" }), "cut")
    assert.strictEqual(callsIn("", { doneReason: "length", thinking: "hm" }), "cutThinking")
    assert.strictEqual(callsIn("half an", { doneReason: "length" }), "cut")
  })
})
