const LIMIT = 2048
const LINK = /\bhttps?:(?:\\?\/){2}[^\s"'<>]+/gi
const PUBLIC_LINK = /^https:\/\/(www\.)?ollama\.com\/(download|library|search)(\/[\w.:-]+)*[.,]?$/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g

/**
 * A server's words as they may be shown and logged: one line of at most 2 KiB, without control
 * characters, and without links, since those for signing in are secrets.
 */
export const serverText = (text: string): string =>
  bounded(
    text
      .slice(0, 4 * LIMIT)
      .replace(LINK, (link) => (PUBLIC_LINK.test(link) ? link : "[link]"))
      .replace(CONTROL, " ")
      .replace(/ {2,}/g, " ")
      .trim()
  )

/** The words in the body of an error: Ollama's `error`, a nested error object, a proxy's page, or the text itself. */
export const errorText = (body: string): string => {
  const value = parsed(body)
  if (value !== undefined) return errorValueText(value)
  const isPage = /^\s*<(!doctype|html|\?xml)/i.test(body)
  return isPage ? `an HTML page: ${pageText(body)}` : serverText(body)
}

/** The words in the value of an `error` field, which is a string or an object that holds one. */
export const errorValueText = (value: unknown): string => {
  const words = wordsOf(value, 0)
  return serverText(words ?? written(value))
}

const wordsOf = (value: unknown, depth: number): string | null => {
  if (typeof value === "string") return value
  if (typeof value !== "object" || value === null || depth > 4) return null
  const fields = value as Readonly<Record<string, unknown>>
  return (
    wordsOf(fields.error, depth + 1) ?? wordsOf(fields.message, depth + 1) ?? wordsOf(fields.detail, depth + 1) ?? null
  )
}

const pageText = (page: string): string =>
  serverText(
    page
      .slice(0, 16 * LIMIT)
      .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
      .replace(/<[^>]*>/g, " ")
  )

/** Empty where the value is nested so deeply that it cannot be written. */
const written = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const bounded = (text: string): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= LIMIT) return text
  let end = LIMIT - 3
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return `${bytes.subarray(0, end).toString("utf8")}…`
}
