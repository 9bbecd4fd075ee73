import {
  OllamaBadToolCall,
  OllamaContextExceeded,
  type OllamaError,
  OllamaModelMissing,
  OllamaRefused,
  OllamaUnavailable,
  OllamaUnsupported
} from "./OllamaError.ts"

/** What was asked, as far as it matters for what an error means. */
export interface Asked {
  readonly model: string
  readonly images: number
}

const CONTEXT =
  /exceeds? the (context length|available context size|context window)|no user query found in messages|prompt (is )?too long/i
const BAD_CALL = /error parsing tool call|failed to parse (json|xml|arguments|function call|value for)/i
/** What Go's decoders say: of our own request where the status is 400, else of what the model wrote. */
const UNREADABLE = /invalid character .* (looking for|in|after)|unexpected end of json input|xml syntax error/i
const UNSUPPORTED = /does not support (tools|thinking|chat|vision|images?|completion)\b/i
const THINK_VALUE = /think value .* is not supported/i
const MISSING = /model\b.*\bnot found|try pulling it first/i
const PASSING = /server busy|maximum pending requests|unexpectedly stopped|runner process/i
const PERMANENT =
  /requires more system memory|(error|unable to) load(ing)? model|unknown model|unsupported|not supported|invalid|cannot unmarshal/i

/**
 * What a refusal means, by its status and words; the words alone decide where the error came within a
 * stream, whose status was 200.
 */
export const failureOf = (status: number, message: string, asked: Asked): OllamaError => {
  if (CONTEXT.test(message)) return new OllamaContextExceeded({ message })
  if (BAD_CALL.test(message) || (status !== 400 && UNREADABLE.test(message))) return new OllamaBadToolCall({ message })
  const capability = THINK_VALUE.test(message) ? "thinking" : UNSUPPORTED.exec(message)?.[1]?.toLowerCase()
  if (capability !== undefined) return new OllamaUnsupported({ model: asked.model, capability, message })
  if ((status === 404 || status === 200) && MISSING.test(message))
    return new OllamaModelMissing({ model: asked.model, message })
  if (!mayPass(status, message)) return new OllamaRefused({ status, message })
  const images = asked.images === 0 ? "" : ` (the request carried ${asked.images} image${asked.images > 1 ? "s" : ""})`
  return new OllamaUnavailable({ status: status === 200 ? null : status, message: message + images })
}

const mayPass = (status: number, message: string): boolean => {
  if (status === 408 || status === 429 || status === 503) return true
  if (status === 501 || status === 505 || PERMANENT.test(message)) return false
  return status >= 500 || status === 200 || PASSING.test(message)
}
