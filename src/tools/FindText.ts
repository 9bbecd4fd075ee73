import type { Replacement } from "./UnifiedDiff.ts"

/** Where a text stands in a file. `drift` says in what it differs, where it was not found as it was given. */
export type Found =
  | { readonly kind: "found"; readonly replacements: ReadonlyArray<Replacement>; readonly drift: string | null }
  | { readonly kind: "ambiguous"; readonly lines: ReadonlyArray<number> }
  | { readonly kind: "missing" }

interface Line {
  readonly start: number
  readonly text: string
  /** Its end: LF, CRLF, or nothing for the last one. */
  readonly end: string
}

/** Finds `old` exactly; else, line by line and only if there is one such place, despite drift in white space. */
export const findText = (file: string, old: string, replacement: string, all: boolean): Found => {
  const crlf = /\r\n/.test(file) && !/(?<!\r)\n/.test(file)
  const exact = occurrences(file, old)
  if (exact.length === 1 || (all && exact.length > 0)) {
    const text = crlf ? replacement.replace(/(?<!\r)\n/g, "\r\n") : replacement
    const replacements = exact.map((start) => ({ start, end: start + old.length, text }))
    return { kind: "found", replacements, drift: null }
  }
  if (exact.length > 1) return { kind: "ambiguous", lines: lineNumbers(file, exact) }
  return findDrifted(splitLines(file), file, old, replacement)
}

const findDrifted = (lines: ReadonlyArray<Line>, file: string, old: string, replacement: string): Found => {
  const bare = withoutNumbers(old)
  const variants =
    bare === null
      ? [{ old, replacement }]
      : [
          { old, replacement },
          { old: bare, replacement: withoutNumbers(replacement) ?? replacement }
        ]
  for (const { drift, same } of DRIFTS) {
    for (const variant of variants) {
      const wanted = splitLines(variant.old)
      if (wanted.every((line) => line.text.trim() === "")) continue
      const places = matches(lines, wanted, same)
      if (places.length > 1) return { kind: "ambiguous", lines: places.map((place) => place + 1) }
      const place = places[0]
      if (place === undefined) continue
      const found = lines.slice(place, place + wanted.length)
      const text = fitted(found, wanted, splitLines(variant.replacement), drift === INDENT)
      if (text === null) continue
      const last = found.at(-1)!
      const end = last.start + last.text.length + (wanted.at(-1)!.end === "" ? 0 : last.end.length)
      const numbered = variant.old === old ? drift : `line numbers and ${drift}`
      return { kind: "found", replacements: [{ start: found[0]!.start, end, text }], drift: numbered }
    }
  }
  void file
  return { kind: "missing" }
}

const INDENT = "indentation"

const DRIFTS: ReadonlyArray<{ readonly drift: string; readonly same: (one: string, other: string) => boolean }> = [
  { drift: "line ends", same: (one, other) => one === other },
  { drift: "white space at line ends", same: (one, other) => one.trimEnd() === other.trimEnd() },
  { drift: INDENT, same: (one, other) => one.trim() === other.trim() }
]

const occurrences = (file: string, old: string): Array<number> => {
  const found: Array<number> = []
  for (let at = file.indexOf(old); at >= 0; at = file.indexOf(old, at + old.length)) found.push(at)
  return found
}

const lineNumbers = (file: string, positions: ReadonlyArray<number>): Array<number> => {
  let [line, at] = [1, 0]
  return positions.slice(0, 8).map((position) => {
    for (let next = file.indexOf("\n", at); next >= 0 && next < position; next = file.indexOf("\n", at)) {
      line++
      at = next + 1
    }
    return line
  })
}

const splitLines = (text: string): Array<Line> => {
  const lines: Array<Line> = []
  for (const match of text.matchAll(/([^\n]*?)(\r?\n|$)/g)) {
    if (match[0] === "" && (lines.length === 0 || match.index === text.length)) break
    lines.push({ start: match.index, text: match[1]!, end: match[2]! })
  }
  return lines
}

const matches = (
  lines: ReadonlyArray<Line>,
  wanted: ReadonlyArray<Line>,
  same: (one: string, other: string) => boolean
) => {
  const places: Array<number> = []
  for (let at = 0; at + wanted.length <= lines.length && places.length < 8; at++) {
    if (wanted.every((line, index) => same(lines[at + index]!.text, line.text))) places.push(at)
  }
  return places
}

/** The new lines with the file's line ends and, where that is what differs, its indentation; null where that has no rule. */
const fitted = (
  found: ReadonlyArray<Line>,
  wanted: ReadonlyArray<Line>,
  added: ReadonlyArray<Line>,
  indent: boolean
): string | null => {
  const shift = indent ? shiftOf(found, wanted) : (text: string) => text
  if (shift === null) return null
  const end = found.find((line) => line.end !== "")?.end ?? "\n"
  return added.map((line) => shift(line.text) + (line.end === "" ? "" : end)).join("")
}

const indentOf = (text: string) => /^[ \t]*/.exec(text)![0]

/** How the file's indentation follows from that which was given, if one rule explains every line. */
const shiftOf = (found: ReadonlyArray<Line>, wanted: ReadonlyArray<Line>): ((text: string) => string) | null => {
  const pairs = wanted.flatMap((line, index) =>
    line.text.trim() === "" ? [] : [{ given: indentOf(line.text), real: indentOf(found[index]!.text) }]
  )
  const rules = [...moves(pairs[0]!), ...TABS]
  const rule = rules.find((rule) => pairs.every(({ given, real }) => rule(given) === real))
  if (!rule) return null
  return (text) => (text.trim() === "" ? text : (rule(indentOf(text)) ?? indentOf(text)) + text.trimStart())
}

type Rule = (indent: string) => string | null

const moves = ({ given, real }: { readonly given: string; readonly real: string }): Array<Rule> => [
  ...(real.endsWith(given) ? [(indent: string) => real.slice(0, real.length - given.length) + indent] : []),
  ...(given.endsWith(real)
    ? [
        (indent: string) =>
          indent.startsWith(given.slice(real.length)) ? indent.slice(given.length - real.length) : null
      ]
    : [])
]

const TABS: ReadonlyArray<Rule> = [2, 4, 8].flatMap(
  (width): Array<Rule> => [
    (indent) => (/^ *$/.test(indent) && indent.length % width === 0 ? "\t".repeat(indent.length / width) : null),
    (indent) => (/^\t*$/.test(indent) ? " ".repeat(indent.length * width) : null)
  ]
)

/** Without the `NUMBER|` that read_file puts before each line; null where not every line has it. */
const withoutNumbers = (text: string): string | null => {
  const lines = text.split("\n")
  const numbered = lines.every((line, index) => /^\s*\d+\|/.test(line) || (line === "" && index === lines.length - 1))
  return numbered ? lines.map((line) => line.replace(/^\s*\d+\|/, "")).join("\n") : null
}
