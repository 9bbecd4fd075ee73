/** One thing that a scripted server does with a response; headers leave with the first byte, as Ollama's do. */
export type Step =
  | { readonly _tag: "Head"; readonly status: number; readonly contentType: string }
  | { readonly _tag: "Record"; readonly record: Readonly<Record<string, unknown>> }
  | { readonly _tag: "Bytes"; readonly bytes: Uint8Array }
  | { readonly _tag: "Pause"; readonly until: PromiseLike<unknown> }
  | { readonly _tag: "Hang" }
  | { readonly _tag: "Cut" }
  | { readonly _tag: "Reset" }

/** What a scripted server answers to one call, in order. It ends cleanly unless its last step says otherwise. */
export type Reply = ReadonlyArray<Step>

/** How a turn ends. `null` leaves the field out of the record. */
export interface Ending {
  readonly doneReason?: string | null
  readonly promptTokens?: number | null
  readonly outputTokens?: number | null
}

/** A call as a record carries it; `arguments` may be anything, and is left out where it is undefined. */
export interface ScriptedCall {
  readonly name: string
  readonly arguments?: unknown
}

/** Any record, sent as one line of NDJSON; `model` and `created_at` are filled in beside a `message`. */
export const record = (fields: Readonly<Record<string, unknown>>): Step => ({ _tag: "Record", record: fields })

/** Records as they are, and then a clean end, with or without a `done` among them. */
export const records = (...all: ReadonlyArray<Readonly<Record<string, unknown>>>): Reply => all.map(record)

/** Bytes as they are: each argument is written by itself, a string as UTF-8. */
export const bytes = (...chunks: ReadonlyArray<string | Uint8Array>): Reply =>
  chunks.map((chunk) => ({ _tag: "Bytes", bytes: typeof chunk === "string" ? Buffer.from(chunk) : chunk }))

/** A record of the answer, of the thinking, or with calls. */
export const say = (content: string): Step => record({ message: { role: "assistant", content }, done: false })

export const think = (thinking: string): Step =>
  record({ message: { role: "assistant", content: "", thinking }, done: false })

export const call = (...calls: ReadonlyArray<ScriptedCall>): Step =>
  record({
    message: {
      role: "assistant",
      content: "",
      tool_calls: calls.map((each, index) => ({ id: `call_scripted${index}`, function: { index, ...each } }))
    },
    done: false
  })

/** The last record of a turn. */
export const done = (ending: Ending = {}): Step => {
  const { doneReason = "stop", promptTokens = 20, outputTokens = 5 } = ending
  return record({
    message: { role: "assistant", content: "" },
    done: true,
    ...(doneReason === null ? {} : { done_reason: doneReason }),
    total_duration: 3_000_000,
    load_duration: 1_000_000,
    ...(promptTokens === null ? {} : { prompt_eval_count: promptTokens, prompt_eval_duration: 1_000_000 }),
    ...(outputTokens === null ? {} : { eval_count: outputTokens, eval_duration: 1_000_000 })
  })
}

/** A whole turn that answers; an array is sent piece by piece. */
export const text = (content: string | ReadonlyArray<string>, ending?: Ending): Reply => [
  ...(typeof content === "string" ? [content] : content).map(say),
  done(ending)
]

/** A whole turn that only thinks. */
export const thinking = (content: string, ending?: Ending): Reply => [think(content), done(ending)]

/** A whole turn that asks for one tool. */
export const toolCall = (name: string, args?: unknown, ending?: Ending): Reply =>
  toolCalls([{ name, arguments: args }], ending)

/** A whole turn that asks for several tools, all in one record. */
export const toolCalls = (calls: ReadonlyArray<ScriptedCall>, ending?: Ending): Reply => [call(...calls), done(ending)]

/** A status with a JSON body. */
export const json = (status: number, body: unknown): Reply => [
  { _tag: "Head", status, contentType: "application/json; charset=utf-8" },
  { _tag: "Bytes", bytes: Buffer.from(JSON.stringify(body)) }
]

/** A status with a line of text. */
export const plain = (status: number, line: string): Reply => [
  { _tag: "Head", status, contentType: "text/plain" },
  { _tag: "Bytes", bytes: Buffer.from(line) }
]

/** A status with Ollama's error body. */
export const error = (status: number, message: string): Reply => json(status, { error: message })

/** What a proxy puts in front of a server that is away. */
export const html = (status: number, page: string): Reply => [
  { _tag: "Head", status, contentType: "text/html" },
  { _tag: "Bytes", bytes: Buffer.from(page) }
]

/** Waits before what follows, until the promise is settled: a latch, never a clock. */
export const pause = (until: PromiseLike<unknown>): Step => ({ _tag: "Pause", until })

/** Says nothing more until the client goes away; alone, not even headers. */
export const hang: Step = { _tag: "Hang" }

/** Closes the connection in the middle of the body. */
export const cut: Step = { _tag: "Cut" }

/** Resets the connection. */
export const reset: Step = { _tag: "Reset" }

/** What a real server answers where the prompt does not fit and `truncate` is false. */
export const contextExceeded = (): Reply => error(400, "the input length exceeds the context length")
