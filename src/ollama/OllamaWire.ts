import { Either, Schema } from "effect"
import type { ChatRequest } from "./OllamaSchema.ts"

/** A field whose value counts as absent where it is not what it should be. */
const lenient = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optional(
    Schema.UndefinedOr(schema).annotations({ decodingFallback: () => Either.right(undefined as A | undefined) })
  )

/** A count or a duration in nanoseconds. */
const Count = Schema.Number.pipe(Schema.finite(), Schema.nonNegative())

/** One call as it stands in a record; nothing about it is certain. */
export const WireToolCall = Schema.Struct({
  function: lenient(Schema.Struct({ name: lenient(Schema.String), arguments: Schema.optional(Schema.Unknown) }))
})

/** One record of a chat's stream. */
export const ChatRecord = Schema.Struct({
  message: lenient(
    Schema.Struct({
      content: lenient(Schema.String),
      thinking: lenient(Schema.String),
      tool_calls: lenient(Schema.Array(Schema.Unknown))
    })
  ),
  error: Schema.optional(Schema.Unknown),
  done: lenient(Schema.Boolean),
  done_reason: lenient(Schema.String),
  prompt_eval_count: lenient(Count),
  prompt_eval_duration: lenient(Count),
  eval_count: lenient(Count)
})
export type ChatRecord = typeof ChatRecord.Type

/** A server without `capabilities` is older than they are; nothing is known of its models then. */
export const ShowBody = Schema.Struct({
  capabilities: lenient(Schema.Array(Schema.String)),
  model_info: lenient(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  remote_host: lenient(Schema.String)
})

export const TagsBody = Schema.Struct({
  models: lenient(Schema.Array(Schema.Struct({ name: Schema.String, size: lenient(Count) })))
})

export const PsBody = Schema.Struct({
  models: lenient(
    Schema.Array(Schema.Struct({ name: Schema.String, size: lenient(Count), context_length: lenient(Count) }))
  )
})

export const VersionBody = Schema.Struct({ version: Schema.String })

/**
 * The body of a chat. `truncate` and `shift` are off, so that a prompt that does not fit is refused and not
 * cut without a word. A duration in milliseconds is written as Go reads it.
 */
export const chatBody = (request: ChatRequest): unknown => {
  const { keepAlive, model, messages, tools, format, think, options } = request
  return {
    model,
    messages,
    ...(tools === undefined || tools.length === 0 ? {} : { tools }),
    ...(format === undefined ? {} : { format }),
    ...(think === undefined ? {} : { think }),
    options,
    stream: true,
    truncate: false,
    shift: false,
    keep_alive: keepAlive < 0 ? -1 : `${Math.round(keepAlive)}ms`
  }
}
