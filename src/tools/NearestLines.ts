const MAX_LINES = 20_000
const MAX_COMPARED = 300
const AROUND = 2

/** The part of a file that looks most like `wanted`, numbered as read_file does; empty where nothing does. */
export const nearestLines = (file: string, wanted: string): string => {
  const lines = file.split("\n", MAX_LINES)
  const sought = wanted.split("\n").filter((line) => line.trim() !== "")
  const first = sought[0]
  if (first === undefined) return ""
  const pairs = pairsOf(first)
  let [best, at] = [0, 0]
  for (const [index, line] of lines.entries()) {
    const score = likeness(pairs, pairsOf(line))
    if (score > best) [best, at] = [score, index]
  }
  if (best < 0.5) return " Read the file and copy the text exactly."
  const [from, to] = [Math.max(0, at - AROUND), Math.min(lines.length, at + Math.min(sought.length, 10) + AROUND)]
  const shown = lines
    .slice(from, to)
    .map((line, index) => `${from + index + 1}|${line.slice(0, MAX_COMPARED).replace(/\r$/, "")}`)
  return ` The nearest text is:\n${shown.join("\n")}`
}

const pairsOf = (line: string): ReadonlySet<string> => {
  const text = line.trim().slice(0, MAX_COMPARED)
  const pairs = new Set<string>()
  for (let at = 0; at < text.length - 1; at++) pairs.add(text.slice(at, at + 2))
  return pairs
}

/** Dice's coefficient: 1 for the same pairs of letters, 0 for none in common. */
const likeness = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  if (one.size === 0 || other.size === 0) return 0
  let common = 0
  for (const pair of one) if (other.has(pair)) common++
  return (2 * common) / (one.size + other.size)
}
