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
const UNSUPPORTED = /does not support (tools|thinking|chat|vision|images?|completion)\b/i
const THINK_VALUE = /think value .* is not supported/i
const MISSING = /model\b.*\bnot found|try pulling it first/i
const PASSING =
  /server busy|maximum pending requests|unexpectedly stopped|runner process|error was encountered while running/i
const PERMANENT = /requires more system memory|unsupported|not supported|unknown model|invalid|cannot unmarshal/i

/**
 * What a refusal means, by its status and words; the words alone decide where the error came within a
 * stream, whose status was 200.
 */
export const failureOf = (status: number, message: string, asked: Asked): OllamaError => {
  if (CONTEXT.test(message)) return new OllamaContextExceeded({ message })
  if (BAD_CALL.test(message)) return new OllamaBadToolCall({ message })
  const capability = THINK_VALUE.test(message) ? "thinking" : UNSUPPORTED.exec(message)?.[1]?.toLowerCase()
  if (capability !== undefined) return new OllamaUnsupported({ model: asked.model, capability, message })
  if (status === 404 && MISSING.test(message)) return new OllamaModelMissing({ model: asked.model, message })
  if (!mayPass(status, message)) return new OllamaRefused({ status, message })
  const images = asked.images === 0 ? "" : ` (the request carried ${asked.images} image${asked.images > 1 ? "s" : ""})`
  return new OllamaUnavailable({ status: status === 200 ? null : status, message: message + images })
}

const mayPass = (status: number, message: string): boolean => {
  if (PASSING.test(message) || status === 408 || status === 429) return true
  if (PERMANENT.test(message) || status === 501 || status === 505) return false
  return status >= 500 || status === 200
}
