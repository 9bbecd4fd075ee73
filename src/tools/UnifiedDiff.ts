const CONTEXT = 3

/** A text from `start` to `end` (indexes into the old text) gives way to another. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Change {
  /** Index of the first line that changes. */
  readonly at: number
  readonly removed: ReadonlyArray<string>
  readonly added: ReadonlyArray<string>
}

export const applyAll = (old: string, replacements: ReadonlyArray<Replacement>): string => {
  let [result, at] = ["", 0]
  for (const { start, end, text } of replacements) {
    result += old.slice(at, start) + text
    at = end
  }
  return result + old.slice(at)
}

/** Hunks of a unified diff for replacements in order, at most about `budget` characters. */
export const unifiedDiff = (old: string, replacements: ReadonlyArray<Replacement>, budget: number): string => {
  const lines = old.split("\n")
  const groups = neighbours(changesOf(old, lines, replacements))
  const hunks: Array<string> = []
  let [shift, used] = [0, 0]
  for (const group of groups) {
    const text = hunk(lines, group, shift)
    for (const { added, removed } of group) shift += added.length - removed.length
    used += text.length
    if (used > budget) {
      const rest = groups.length - hunks.length
      hunks.push(hunks.length === 0 ? `${text.slice(0, budget)}\n… [the rest is cut]` : `… [${rest} more hunks]`)
      break
    }
    hunks.push(text)
  }
  return hunks.join("\n")
}

/** Changes so near to each other that the lines around them would overlap share a hunk. */
const neighbours = (changes: ReadonlyArray<Change>): ReadonlyArray<ReadonlyArray<Change>> => {
  const groups: Array<Array<Change>> = []
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && change.at - last.at - last.removed.length <= 2 * CONTEXT) groups.at(-1)!.push(change)
    else groups.push([change])
  }
  return groups
}

/** Replacements that touch the same line are one change. */
const changesOf = (old: string, lines: ReadonlyArray<string>, replacements: ReadonlyArray<Replacement>) => {
  const changes: Array<Change> = []
  let [line, lineStart] = [0, 0]
  const advance = (position: number) => {
    while (line < lines.length - 1 && lineStart + lines[line]!.length < position) {
      lineStart += lines[line]!.length + 1
      line++
    }
  }
  for (let index = 0; index < replacements.length; ) {
    advance(replacements[index]!.start)
    const [first, from] = [line, lineStart]
    const group: Array<Replacement> = []
    let lineEnd = -1
    for (let next = replacements[index]; next !== undefined && (group.length === 0 || next.start <= lineEnd); ) {
      group.push({ start: next.start - from, end: next.end - from, text: next.text })
      advance(next.end)
      lineEnd = lineStart + lines[line]!.length
      next = replacements[++index]
    }
    const change = trimmed(first, lines.slice(first, line + 1), applyAll(old.slice(from, lineEnd), group).split("\n"))
    if (change.added.length > 0 || change.removed.length > 0) changes.push(change)
  }
  return changes
}

const trimmed = (at: number, removed: ReadonlyArray<string>, added: ReadonlyArray<string>): Change => {
  const shorter = Math.min(removed.length, added.length)
  let head = 0
  while (head < shorter && removed[head] === added[head]) head++
  let tail = 0
  while (tail < shorter - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail++
  return {
    at: at + head,
    removed: removed.slice(head, removed.length - tail),
    added: added.slice(head, added.length - tail)
  }
}

const hunk = (lines: ReadonlyArray<string>, changes: ReadonlyArray<Change>, shift: number): string => {
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length
  const [first, last] = [changes[0]!, changes.at(-1)!]
  const from = Math.max(0, first.at - CONTEXT)
  const to = Math.min(count, last.at + last.removed.length + CONTEXT)
  const body: Array<string> = []
  let [at, added] = [from, 0]
  for (const change of changes) {
    for (const line of lines.slice(at, change.at)) body.push(` ${line}`)
    for (const line of change.removed) body.push(`-${line}`)
    for (const line of change.added) body.push(`+${line}`)
    at = change.at + change.removed.length
    added += change.added.length - change.removed.length
  }
  for (const line of lines.slice(at, to)) body.push(` ${line}`)
  const size = Math.max(to, at) - from
  const head = `@@ -${from + 1},${size} +${from + 1 + shift},${size + added} @@`
  return [head, ...body].map((line) => line.replace(/\r$/, "")).join("\n")
}
