import type { ConfigPath } from "./ConfigTree.ts"

/** What to do about an unknown key: the nearest known ones, else those that its section has. */
export const nearestKey = (known: ReadonlyArray<ConfigPath>, unknown: ConfigPath): string => {
  const written = plain(unknown[unknown.length - 1])
  const section = unknown.slice(0, -1)
  const siblings = [
    ...new Set(known.filter((path) => starts(path, section)).map((path) => String(path[section.length])))
  ]
  const near = closest(siblings, written)
  if (near !== undefined) return `did you mean "${near}"?`
  const elsewhere = known.filter((path) => plain(path.join("")) === written || plain(path[path.length - 1]) === written)
  if (elsewhere.length > 0)
    return `did you mean ${elsewhere.map((path) => `"${path.join(".")}"`).join(" or ")} (a section's keys stand below it, indented)?`
  const anywhere = closest([...new Set(known.map((path) => String(path[path.length - 1])))], written)
  const home = known.find((path) => path[path.length - 1] === anywhere)
  return home !== undefined ? `did you mean "${home.join(".")}"?` : `known here: ${siblings.join(", ")}`
}

/** Case, width, spaces and joints do not tell keys apart. */
const plain = (key: PropertyKey | undefined) =>
  String(key)
    .slice(0, 100)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")

const starts = (path: ConfigPath, prefix: ConfigPath) =>
  path.length > prefix.length && prefix.every((part, index) => path[index] === part)

export const closest = (candidates: ReadonlyArray<string>, written: string): string | undefined => {
  const near = candidates
    .map((candidate) => ({ candidate, distance: distance(plain(candidate), written) }))
    .filter(
      ({ candidate, distance }) => distance <= Math.max(1, Math.floor(Math.min(candidate.length, written.length) / 3))
    )
  return near.sort((a, b) => a.distance - b.distance)[0]?.candidate
}

/** How many letters are to be added, removed, changed or swapped with their neighbour. */
const distance = (a: string, b: string): number => {
  let before: Array<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + (same ? 0 : 1),
        swapped ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY
      )
    }
    before = row
    row = next
  }
  return row[b.length]!
}
