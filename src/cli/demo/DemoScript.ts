import { setTimeout } from "node:timers/promises"
import type { Locale } from "../../domain/Settings.ts"
import type { ScriptedRequest } from "../../ollama/ScriptedOllama.ts"
import { type Reply, text, toolCall, toolCalls } from "../../ollama/ScriptedReply.ts"
import { testCommand } from "./DemoTest.ts"

/** So that one can watch. */
const THINKING_MILLIS = 300

/**
 * What a model would do, one entry a turn: looks around, reads, sees the test fail, mends the cause, sees the test
 * pass, reports. Each turn goes by what the tools really answered.
 */
export const demoReply =
  (locale: Locale) =>
  async ({ body: { messages } }: ScriptedRequest): Promise<Reply> => {
    await setTimeout(THINKING_MILLIS)
    const own = messages.slice(messages.findLastIndex((message) => message.role === "user") + 1)
    const turn = own.filter((message) => message.role === "assistant").length
    const results = own.filter((message) => message.role === "tool").map((message) => message.content)
    return (turns[turn] ?? giveUp)(results, locale)
  }

type Turn = (results: ReadonlyArray<string>, locale: Locale) => Reply

const giveUp: Turn = (results, locale) => text(`${words.stuck[locale]}\n${results.at(-1) ?? ""}`)

const turns: ReadonlyArray<Turn> = [
  () => toolCall("list_files", {}),
  () =>
    toolCalls([
      { name: "read_file", arguments: { path: "test.js" } },
      { name: "read_file", arguments: { path: "cart.js" } }
    ]),
  () => toolCall("shell", { command: testCommand }),
  (results, locale) => {
    const wrong = /for \(let i = 1;.*/.exec(results.join("\n"))?.[0]
    if (wrong === undefined || results.at(-1)?.includes("FAIL") !== true) return giveUp(results, locale)
    return toolCall("edit_file", {
      path: "cart.js",
      old_string: wrong,
      new_string: wrong.replace("i = 1", "i = 0")
    })
  },
  () => toolCall("shell", { command: testCommand }),
  (results, locale) => (results.at(-1)?.includes("PASS") ? text(words.done[locale]) : giveUp(results, locale))
]

const words = {
  done: {
    ja: "原因は cart.js の total で、ループが 1 から始まるため最初の値段が足されていませんでした。0 から始まるように直し、node test.js が通ることを確かめました。",
    en: "The cause was in total of cart.js: its loop began at 1 and left the first price out. It begins at 0 now, and node test.js passes."
  },
  stuck: {
    ja: "思ったとおりに進まず、直せませんでした。ツールの最後の返事:",
    en: "Something was not as expected, so nothing could be mended. The last answer of a tool:"
  }
}
