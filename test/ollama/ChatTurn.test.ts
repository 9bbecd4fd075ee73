import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ChatTurn } from "../../src/ollama/ChatTurn.ts"

const anything = fc.jsonValue({ maxDepth: 3 })
const maybe = <A>(value: fc.Arbitrary<A>) => fc.oneof(value, anything)

const record = fc.record(
  {
    message: maybe(
      fc.record(
        {
          content: maybe(fc.string()),
          thinking: maybe(fc.string()),
          tool_calls: maybe(
            fc.array(maybe(fc.record({ function: maybe(fc.record({ name: anything, arguments: anything })) })))
          )
        },
        { requiredKeys: [] }
      )
    ),
    error: anything,
    done: maybe(fc.boolean()),
    done_reason: anything,
    prompt_eval_count: anything,
    prompt_eval_duration: anything,
    eval_count: anything
  },
  { requiredKeys: [] }
)

const isCount = (value: number | null) => value === null || (Number.isFinite(value) && value >= 0)

describe("ChatTurn", () => {
  it("takes whatever a server sends, and gives a reply of the right types", () => {
    const line = fc.oneof(
      maybe(record).map((value) => JSON.stringify(value)),
      fc.string()
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const turn = new ChatTurn()
        for (const each of lines) turn.add(each)
        const { content, thinking, toolCalls, doneReason, promptTokens, outputTokens, promptMillis } = turn.reply
        assert.isString(content)
        assert.isString(thinking)
        assert.isTrue(toolCalls.every((call) => typeof call.name === "string" && call.arguments !== null))
        assert.isTrue(doneReason === null || typeof doneReason === "string")
        assert.isTrue([promptTokens, outputTokens, promptMillis].every(isCount))
      })
    )
  })

  it("reports an error that is nested beyond any sense", () => {
    const depth = 20_000
    const event = new ChatTurn().add(`{"error":${"[".repeat(depth)}${"]".repeat(depth)}}`)
    assert.strictEqual(event._tag, "Error")
  })

  it("gives half of a surrogate pair as what it is stored as", () => {
    const turn = new ChatTurn()
    turn.add(`{"message":{"content":"a\\ud83d"}}`)
    assert.strictEqual(turn.reply.content, "a\ufffd")
  })

  it("joins a surrogate pair that two records share", () => {
    const turn = new ChatTurn()
    turn.add(`{"message":{"content":"\\ud83c"}}`)
    turn.add(`{"message":{"content":"\\udf0d"}}`)
    assert.strictEqual(turn.reply.content, "🌍")
  })
})
