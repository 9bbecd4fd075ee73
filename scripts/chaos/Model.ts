import { ScriptedOllama, type ScriptedRequest } from "../../src/ollama/ScriptedOllama.ts"
import { call, done, hang, type Reply, say, text } from "../../src/ollama/ScriptedReply.ts"

/** What the model does with a request: it reads it from the request's own text. */
export type Play = "answer" | "tools" | "sleep" | "hang" | "midStream" | "dies" | "floods"

/** Plays that end by themselves. */
export const ending: ReadonlyArray<Play> = ["answer", "tools", "dies", "floods"]

export const requestOf = (play: Play, name: string): string => `chaos ${play} ${name}`

export const answerOf = (name: string): string => `did ${name}`

const CALLS = 4

/** Each call of a shell writes one line of its own: a line that is there twice is a call that ran twice. */
const lineOf = (name: string, step: number): string => `${name}.${step}`

/**
 * A shell command that leaves the groups and ignores SIGTERM as well as it can. What it starts names the workspace, so that the
 * harness finds what is left of it.
 */
const stubborn = `trap '' TERM; (setsid sh -c 'trap "" TERM; while :; do sleep 0.05; done; : '"$PWD" &) ; (sleep 1000 &) ; while :; do sleep 0.05; done`

const reply = (request: ScriptedRequest): Reply => {
  const { messages } = request.body
  const at = messages.findLastIndex((message) => message.role === "user" && message.content.startsWith("chaos "))
  const [, play, name] = (messages[at]?.content ?? "").split(" ") as [string, Play, string]
  const results = messages.slice(at + 1).filter((message) => message.role === "tool").length
  switch (play) {
    case "tools": {
      if (results >= CALLS) return text(answerOf(name))
      const line = lineOf(name, results)
      return [call({ name: "shell", arguments: { command: `echo ${line} >> lines.txt; sleep 0.0${results}` } }), done()]
    }
    case "sleep":
      return results > 0 ? text(answerOf(name)) : [call({ name: "shell", arguments: { command: stubborn } }), done()]
    case "hang":
      return [hang]
    case "midStream":
      return [say("half "), hang]
    case "dies":
      return request.index % 2 === 0 ? [say("half "), { _tag: "Cut" }] : text(answerOf(name))
    case "floods":
      return [...Array.from({ length: 500 }, () => say("")), say(answerOf(name)), done()]
    default:
      return text(answerOf(name))
  }
}

export const startModel = (): Promise<ScriptedOllama> => ScriptedOllama.start([], { otherwise: reply })
