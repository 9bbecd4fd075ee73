import { Option } from "effect"
import { jsonrepair } from "jsonrepair"

/**
 * JSON as models write it. Raw control characters inside strings are taken as they are, and commas and quotes are
 * repaired; none where anything else is wrong, above all where the text was cut off.
 */
export const parseLoose = (text: string): Option.Option<unknown> =>
  parse(text).pipe(
    Option.orElse(() => parse(escapeControls(text))),
    Option.orElse(() => repair(escapeControls(text)))
  )

/** The index behind the object or array that starts at `start`, or -1 where it does not end. */
export const endOfValue = (text: string, start: number): number => {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (inString) {
      if (char === "\\") at++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === "{" || char === "[") depth++
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1
  }
  return -1
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))
const repairText = Option.liftThrowable(jsonrepair)

// jsonrepair also closes what is open. A call that was cut off must not run, so a repair counts
// only where it left everything but commas, quotes and escapes as it was, and no string was open.
const repair = (text: string): Option.Option<unknown> =>
  !/^\s*[{[]/.test(text) || endsInsideString(text)
    ? Option.none()
    : repairText(text).pipe(
        Option.filter((repaired) => skeleton(repaired) === skeleton(text)),
        Option.flatMap(parse)
      )

const skeleton = (text: string): string => text.replace(/[\s,"'`\\“”‘’]/gu, "")

const endsInsideString = (text: string): boolean => {
  let open = ""
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (open !== "") {
      if (char === "\\") at++
      else if (char === open) open = ""
    } else if (char === '"' || char === "'") open = char
  }
  return open !== ""
}

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

const escapeControls = (text: string): string => {
  let inString = false
  let out = ""
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (inString && char === "\\") out += char + (text[++at] ?? "")
    else if (inString && char < " ") out += NAMED[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
    else {
      if (char === '"') inString = !inString
      out += char
    }
  }
  return out
}
