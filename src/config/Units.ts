import { Either } from "effect"
import { type Rule, shown } from "./Rule.ts"

const sizes = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }
const durations = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 }

export const { KiB, MiB, GiB } = sizes
export const { s: second, m: minute, h: hour, d: day } = durations

/** A number with a unit, as a whole count of the base unit. */
const measure =
  (what: string, units: Readonly<Record<string, number>>, min: number, max: number): Rule<number> =>
  (value) => {
    const names = Object.keys(units)
    const example = `${what} with a unit (${names.join(", ")}) from ${inUnits(min, units)} to ${inUnits(max, units)}`
    const [, digits, unit] =
      typeof value === "string" ? (/^(\d{1,15}(?:\.\d{1,6})?) ?([A-Za-z]+)$/.exec(value) ?? []) : []
    const factor = unit === undefined || !names.includes(unit) ? undefined : units[unit]
    if (factor === undefined) {
      const near = unit && names.find((name) => name.toLowerCase() === unit.toLowerCase())
      return Either.left(`must be ${example}, not ${shown(value)}${near ? `; did you mean "${digits}${near}"?` : ""}`)
    }
    const count = Math.round(Number(digits) * factor)
    return count >= min && count <= max ? Either.right(count) : Either.left(`must be ${example}, not ${shown(value)}`)
  }

/** The count in the largest unit that divides it. */
const inUnits = (count: number, units: Readonly<Record<string, number>>): string => {
  const fits = Object.entries(units).filter(([, factor]) => count % factor === 0 && count >= factor)
  const [name, factor] = fits.sort((a, b) => b[1] - a[1])[0] ?? Object.entries(units)[0]!
  return `${count / factor}${name}`
}

/** A size in bytes: `10MiB`. The bounds are bytes too. */
export const size = (min: number, max: number): Rule<number> => measure("a size", sizes, min, max)

/** A duration in milliseconds: `30s`, `7d`. The bounds are milliseconds too. */
export const duration = (min: number, max: number): Rule<number> => measure("a duration", durations, min, max)

/** Ollama's `keep_alive`: a duration, 0 to unload at once, -1 to keep the model for ever. */
export const keepAlive: Rule<number> = (value) =>
  value === 0 || value === -1
    ? Either.right(value + 0)
    : Either.mapLeft(
        duration(0, 365 * day)(value),
        (words) => `${words}; 0 unloads at once and -1 keeps the model for ever`
      )
