import { Either, Schema } from "effect"
import type { TokenUsage } from "../domain/Task.ts"
import type { ChatReply, RawToolCall } from "./OllamaSchema.ts"
import { ChatRecord, WireToolCall } from "./OllamaWire.ts"
import { errorValueText, serverText } from "./ServerText.ts"

/** What one line of the stream was. */
export type TurnEvent =
  | { readonly _tag: "Delta"; readonly content: string; readonly thinking: string }
  /** The server's own error, in its words. */
  | { readonly _tag: "Error"; readonly message: string }
  /** A line that is no JSON object. */
  | { readonly _tag: "Garbage"; readonly raw: string }

const decodeRecord = Schema.decodeUnknownEither(Schema.parseJson(ChatRecord))
const decodeCall = Schema.decodeUnknownEither(WireToolCall)
const decodeJson = Schema.decodeUnknownEither(Schema.parseJson())

/** A turn as it is put together, record by record. Nothing in it depends on which record a part comes in. */
export class ChatTurn {
  #content = ""
  #thinking = ""
  readonly #calls: Array<RawToolCall> = []
  #ended = false
  #doneReason: string | null = null
  #promptTokens: number | null = null
  #outputTokens: number | null = null
  #promptNanos: number | null = null
  #unknown: string | null = null

  /** Whether the last record has come. A `done_reason` alone is taken as the end too. */
  get ended(): boolean {
    return this.#ended
  }

  /** The last record that was none of Ollama's, in its own words. */
  get unknown(): string | null {
    return this.#unknown
  }

  get usage(): TokenUsage {
    return { input: this.#promptTokens ?? 0, output: this.#outputTokens ?? 0 }
  }

  get reply(): ChatReply {
    return {
      content: wellFormed(this.#content),
      thinking: wellFormed(this.#thinking),
      toolCalls: this.#calls,
      doneReason: this.#doneReason,
      promptTokens: this.#promptTokens,
      outputTokens: this.#outputTokens,
      promptMillis: this.#promptNanos === null ? null : this.#promptNanos / 1e6
    }
  }

  add(line: string): TurnEvent {
    const decoded = decodeRecord(line)
    if (Either.isLeft(decoded)) return { _tag: "Garbage", raw: serverText(line) }
    const record = decoded.right
    this.#count(record)
    if (record.error !== undefined && record.error !== null && record.error !== "") {
      return { _tag: "Error", message: errorValueText(record.error) }
    }
    const { content = "", thinking = "", tool_calls: calls = [] } = record.message ?? {}
    if (record.message === undefined && record.done !== true && record.done_reason === undefined) {
      this.#unknown = serverText(line)
    }
    this.#content += content
    this.#thinking += thinking
    this.#calls.push(...calls.map(rawCall))
    if (record.done_reason !== undefined && record.done_reason !== "") this.#doneReason = record.done_reason
    this.#ended ||= record.done ?? this.#doneReason !== null
    return { _tag: "Delta", content, thinking }
  }

  #count(record: ChatRecord): void {
    this.#promptTokens = record.prompt_eval_count ?? this.#promptTokens
    this.#outputTokens = record.eval_count ?? this.#outputTokens
    this.#promptNanos = record.prompt_eval_duration ?? this.#promptNanos
  }
}

/** A call that has no name keeps an empty one, so that whoever answers it can say so. */
const rawCall = (call: unknown): RawToolCall => {
  const decoded = decodeCall(call)
  const { name = "", arguments: args } = (Either.isRight(decoded) ? decoded.right.function : undefined) ?? {}
  return { name, arguments: callArguments(args) }
}

/** Nothing is an empty object; a string is read as JSON, and stays as it is where it is none. */
const callArguments = (args: unknown): unknown => {
  if (args === undefined || args === null) return {}
  if (typeof args !== "string") return args
  if (args.trim() === "") return {}
  const parsed = decodeJson(args)
  return Either.isRight(parsed) ? (parsed.right ?? {}) : args
}

/** Half of a surrogate pair would not survive being stored as UTF-8. */
const wellFormed = (text: string): string => (/\p{Surrogate}/u.test(text) ? Buffer.from(text).toString("utf8") : text)
