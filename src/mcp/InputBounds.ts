import { isObject } from "./JsonRpc.ts"

/** No setting allows more images than half of this. */
export const maxElements = 200

const maxMembers = 50

/** An image's members are the innermost that a tool takes. */
const maxDepth = 3

/**
 * A copy that costs little to check, however much a client sent: of what is too deep, too long or has too many
 * members it has as much as is needed to see that it is refused. `first` are the names that are never left out.
 */
export const bounded = (value: unknown, first: ReadonlyArray<string>, depth = maxDepth): unknown => {
  if (Array.isArray(value)) {
    return depth === 0 ? [] : value.slice(0, maxElements).map((element) => bounded(element, first, depth - 1))
  }
  if (!isObject(value)) return value
  if (depth === 0) return {}
  const names = Object.keys(value)
  const known = first.filter((name) => Object.hasOwn(value, name))
  const kept = names.length <= maxMembers ? names : [...new Set([...known, ...names.slice(0, maxMembers)])]
  // fromEntries defines each member, so that a name such as __proto__ stays a member and is refused.
  return Object.fromEntries(kept.map((name) => [name, bounded(value[name], first, depth - 1)]))
}
