import { assert, describe, it } from "@effect/vitest"
import { ContextWindow } from "../../src/agent/ContextWindow.ts"
import { AssistantMessage, type Message, ToolMessage, UserMessage } from "../../src/domain/Message.ts"
import { ToolCall } from "../../src/domain/ToolCall.ts"

const user = (content: string) => new UserMessage({ content, images: [] })

const turn = (n: number, output: string): ReadonlyArray<Message> => [
  new AssistantMessage({
    content: "",
    thinking: "",
    toolCalls: [new ToolCall({ id: `${n}.1`, name: "read_file", arguments: { path: `${n}.txt` } })]
  }),
  new ToolMessage({ callId: `${n}.1`, toolName: "read_file", outcome: "ok", content: output, changed: [] })
]

const said = (content: string, thinking = "") => new AssistantMessage({ content, thinking, toolCalls: [] })

const windowOf = (
  own: ReadonlyArray<Message>,
  options: {
    readonly earlier?: ReadonlyArray<ReadonlyArray<Message>>
    readonly numCtx?: number
    readonly thinking?: boolean
  } = {}
) =>
  new ContextWindow(
    {
      system: "SYSTEM",
      tools: [],
      numCtx: options.numCtx ?? 4096,
      thinking: options.thinking ?? false,
      describe: (call) => `${call.name} ${call.arguments.path}`
    },
    { earlier: options.earlier ?? [], own }
  )

const grown = (turns: number, output: string, numCtx?: number) => {
  const window = windowOf([user("REQUEST")], numCtx === undefined ? {} : { numCtx })
  for (let n = 1; n <= turns; n++) for (const message of turn(n, output)) window.add(message)
  return window
}

const contents = (window: ContextWindow) => window.messages().map(({ content }) => content)

const long = "0123456789".repeat(100)

describe("ContextWindow", () => {
  it("shows everything as it is while it fits", () => {
    const window = grown(3, "short")
    assert.isFalse(window.fit())
    assert.deepStrictEqual(contents(window), ["SYSTEM", "REQUEST", "", "short", "", "short", "", "short"])
  })

  it("shortens the oldest tool output first, head and tail staying, and leaves the newest turns whole", () => {
    const window = grown(11, long)
    assert.isTrue(window.fit())
    const tools = window.messages().filter(({ role }) => role === "tool")
    assert.strictEqual(tools.length, 11)
    assert.match(tools[0]!.content, /^0123456789.*characters left out.*0123456789$/s)
    assert.isBelow(tools[0]!.content.length, 500)
    assert.deepStrictEqual(
      tools.slice(-2).map(({ content }) => content),
      [long, long]
    )
    assert.isAtMost(window.estimate(), 3072)
  })

  it("then drops whole turns, names what they called, and keeps system prompt, request and newest turns", () => {
    const window = grown(100, long)
    window.fit()
    const [system, request, marker, ...rest] = window.messages()
    assert.strictEqual(system?.content, "SYSTEM")
    assert.strictEqual(request?.content, "REQUEST")
    assert.match(marker?.content ?? "", /left out to save space.*read_file \d+\.txt/)
    assert.strictEqual(rest[0]?.role, "assistant")
    assert.strictEqual(rest.filter(({ role }) => role === "assistant").length, rest.length / 2)
    assert.deepStrictEqual(rest.at(-1)?.content, long)
    assert.isAtMost(window.estimate(), 3072)
  })

  it("stays as it is after it was shortened, and grows at its end again for some turns", () => {
    const window = grown(100, long)
    window.fit()
    const before = JSON.stringify(window.messages()).slice(0, -1)
    for (const message of turn(101, "short")) window.add(message)
    assert.isFalse(window.fit())
    assert.isTrue(JSON.stringify(window.messages()).startsWith(before))
  })

  it("shortens a newest result that is too large by itself", () => {
    const window = grown(1, long.repeat(50))
    assert.isTrue(window.fit())
    assert.isAtMost(window.estimate(), 3072)
    assert.strictEqual(window.messages().length, 4)
  })

  it("sends a request that is too large as it is, for the server to judge", () => {
    const window = windowOf([user(long.repeat(50))])
    assert.isFalse(window.fit())
    assert.strictEqual(contents(window)[1], long.repeat(50))
    assert.isFalse(window.refused("the input length exceeds the context length"))
  })

  it("drops earlier tasks of the session before its own turns", () => {
    const earlier = Array.from({ length: 30 }, (_, n) => [user(`old ${n} ${long}`), said(`answer ${n}`)])
    const window = windowOf([user("REQUEST"), ...turn(1, "mine")], { earlier })
    window.fit()
    const shown = contents(window)
    assert.match(shown[1] ?? "", /left out to save space/)
    assert.include(shown, "answer 29")
    assert.notInclude(shown.join(), "old 0 ")
    assert.deepStrictEqual(shown.slice(-3), ["REQUEST", "", "mine"])
  })

  it("learns from the server's counts how much a token holds", () => {
    const window = grown(4, long)
    const bytes = window.estimate() * 3.2
    assert.isTrue(window.learnCount(Math.round(bytes / 2)))
    assert.approximately(window.estimate(), bytes / 2, 2)
  })

  it("ignores counts that no tokenizer gives", () => {
    const window = grown(4, long)
    const before = window.estimate()
    for (const count of [null, 0, 1, 20, 1_000_000]) assert.isTrue(window.learnCount(count), String(count))
    assert.strictEqual(window.estimate(), before)
  })

  it("notices that the server has read only a part of a long prompt", () => {
    const window = grown(50, long, 32_768)
    assert.isFalse(window.learnCount(2051))
    assert.isTrue(window.learnCount(window.estimate()))
  })

  it("takes the context that the server names in its refusal", () => {
    const window = grown(20, long, 32_768)
    assert.isFalse(window.fit())
    assert.isTrue(window.refused("request (6000 tokens) exceeds the available context size (4096 tokens)"))
    assert.strictEqual(window.numCtx, 4096)
    assert.isAtMost(window.estimate(), 3072)
  })

  it("sends the task's own thinking back where that is wanted, and never that of earlier tasks", () => {
    const earlier = [[user("old"), said("old answer", "old thought")]]
    const own = [user("REQUEST"), said("aside", "my thought")]
    const shown = JSON.stringify(windowOf(own, { earlier, thinking: true }).messages())
    assert.include(shown, "my thought")
    assert.notInclude(shown, "old thought")
    assert.notInclude(JSON.stringify(windowOf(own, { earlier }).messages()), "my thought")
  })

  it("keeps characters whole where it cuts", () => {
    const window = grown(40, "🌍".repeat(400))
    window.fit()
    assert.notMatch(JSON.stringify(window.messages()), /\\ud[89a-f]/i)
  })

  it("opens a session of 2,000 turns at once", () => {
    const earlier = [[user("old"), ...Array.from({ length: 2000 }, (_, n) => turn(n, long)).flat(), said("done")]]
    const window = windowOf([user("REQUEST")], { earlier })
    assert.isTrue(window.fit())
    assert.isBelow(window.messages().length, 40)
  })
})
