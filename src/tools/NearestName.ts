import { opendir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Effect } from "effect"
import { shownName } from "./PlainText.ts"
import { ToolFailed } from "./ToolFailed.ts"
import { isVisible, type Place, type Workspace } from "./Workspace.ts"

const MAX_NAMES = 2000

/** Adds the name in the same folder that comes nearest to one that does not exist. */
export const withNearest =
  (workspace: Workspace, place: Place) =>
  <A, R>(effect: Effect.Effect<A, ToolFailed, R>): Effect.Effect<A, ToolFailed, R> =>
    place.exists
      ? effect
      : Effect.catchAll(effect, (failed) =>
          Effect.promise(() => nearest(workspace, place)).pipe(
            Effect.flatMap((name) =>
              Effect.fail(
                name === null ? failed : new ToolFailed({ message: `${failed.message} Did you mean ${name}?` })
              )
            )
          )
        )

const nearest = async (workspace: Workspace, place: Place): Promise<string | null> => {
  const wanted = basename(place.real)
  const found = await names(dirname(place.real)).catch(() => [])
  const best = found
    .map((name) => ({ name, distance: editDistance(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ name }) => isVisible(workspace, join(dirname(place.real), name)))
    .sort((one, other) => one.distance - other.distance)[0]
  if (!best || best.distance > Math.max(1, wanted.length / 3)) return null
  return shownName(join(dirname(place.shown), best.name))
}

const names = async (folder: string) => {
  const list: Array<string> = []
  for await (const entry of await opendir(folder)) {
    if (list.push(entry.name) >= MAX_NAMES) break
  }
  return list
}

/** How many letters differ between two names (Levenshtein). */
export const editDistance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same))
    }
    row = next
  }
  return row[other.length]!
}
