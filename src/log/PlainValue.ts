import { hidden, isSecretKey, redact } from "./Redaction.ts"

/** How much more may be written, in characters, and what must not be. */
export interface Budget {
  left: number
  readonly secrets: Iterable<string>
}

const maxText = 8 * 1024
const maxItems = 100
const maxDepth = 6
const longestSecret = 1024

/** The value as JSON can write it: secrets hidden, circles, depth and length cut. */
export const plainValue = (value: unknown, budget: Budget, depth = 0): unknown => {
  budget.left -= 8
  if (typeof value === "string") return text(value, budget)
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (typeof value === "boolean" || value === null || value === undefined) return value
  if (typeof value !== "object") return text(String(value), budget)
  if (value instanceof Error) return error(value, budget, depth)
  if (value instanceof Date) return String(value)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (depth >= maxDepth || budget.left <= 0) return "[...]"
  if (Array.isArray(value)) return items(value, budget, depth)
  if (value instanceof Map || value instanceof Set) return items([...value], budget, depth)
  return record(value, budget, depth)
}

/** A secret is looked for before the text is cut, so that no half of one stays. */
const text = (value: string, budget: Budget): string => {
  const room = Math.max(0, Math.min(maxText, budget.left))
  const clean = redact(value.slice(0, room + longestSecret), budget.secrets)
  const cut = clean.length > room ? clean.slice(0, room) : clean
  budget.left -= cut.length
  return cut.length < clean.length || value.length > room + longestSecret
    ? `${cut}... (${value.length} characters)`
    : cut
}

/** A tagged error's own fields tell what happened; its stack is the cause's business. */
const error = (value: Error, budget: Budget, depth: number): unknown => {
  const fields = Object.keys(value).filter(
    (key) => key !== "stack" && key !== "name" && key !== "message" && key !== "_tag"
  )
  const known = { name: value.name, message: value.message, ...(value.cause !== undefined && { cause: value.cause }) }
  const own = Object.fromEntries(fields.map((key) => [key, (value as unknown as Record<string, unknown>)[key]]))
  return depth >= maxDepth ? text(String(value), budget) : record({ ...known, ...own }, budget, depth)
}

const items = (values: ReadonlyArray<unknown>, budget: Budget, depth: number): ReadonlyArray<unknown> => {
  const shown = values.slice(0, maxItems).map((item) => plainValue(item, budget, depth + 1))
  return values.length > maxItems ? [...shown, `... (${values.length} items)`] : shown
}

const record = (value: object, budget: Budget, depth: number): unknown => {
  const keys = Object.keys(value)
  const shown = keys.slice(0, maxItems).map((key) => {
    const inner = isSecretKey(key) ? hidden : plainValue((value as Record<string, unknown>)[key], budget, depth + 1)
    return [text(key, budget), inner] as const
  })
  return Object.fromEntries(keys.length > maxItems ? [...shown, ["...", `${keys.length} keys`]] : shown)
}
