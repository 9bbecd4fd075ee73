// biome-ignore-all lint/suspicious/noControlCharactersInRegex: removing them is what this file is for
const ESCAPES =
  /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g

/** What a terminal would show in the end: no escapes, progress lines in their last state, no control characters. */
export const plainText = (raw: string): string => {
  const lines = raw.replace(ESCAPES, "").split("\n")
  return lines.map((line) => lastState(line).replace(CONTROLS, "").replace(/\r/g, "")).join("\n")
}

const lastState = (line: string): string => {
  const drawn = line.includes("\r") ? (line.split("\r").findLast((part) => part !== "") ?? "") : line
  if (!drawn.includes("\b")) return drawn
  const shown: Array<string> = []
  for (const character of drawn) {
    if (character === "\b") shown.pop()
    else shown.push(character)
  }
  return shown.join("")
}

/** On one line and at most `length` characters, control characters as spaces. */
export const plainLine = (raw: string, length: number): string => {
  const line = raw
    .slice(0, length * 4)
    .replace(ESCAPES, "")
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

const NAMES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/** A file name on one line: control characters and bytes that are not UTF-8 are escaped. */
export const shownName = (name: Uint8Array | string): string => {
  const buffer = typeof name === "string" ? Buffer.from(name) : Buffer.from(name)
  const utf8 = buffer.toString("utf8")
  const valid = Buffer.from(utf8).equals(buffer)
  return (valid ? utf8 : buffer.toString("latin1").replace(/[\x80-\xff]/g, hex)).replace(
    /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => NAMES[character] ?? hex(character)
  )
}

const hex = (character: string) => {
  const code = character.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
}
