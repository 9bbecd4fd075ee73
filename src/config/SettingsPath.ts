import { realpathSync, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import { Either } from "effect"
import { type Rule, shown } from "./Rule.ts"

/** A path as it is written: one that means something else to a shell than it would here is refused. */
export const path: Rule<string> = (value) => {
  if (typeof value !== "string" || value.trim() === "" || value.length > 4096 || hasControl(value)) {
    return Either.left(`must be a path, not ${shown(value)}`)
  }
  if (/^~[^/\\]/.test(value)) {
    return Either.left(
      `must be a path: "~/" is your home folder, another user's is not looked up; write it out (${shown(value)})`
    )
  }
  return /\$\{|^\$\w|^%\w+%/.test(value)
    ? Either.left(`must be a path; variables are not expanded: write it out (${shown(value)})`)
    : Either.right(value)
}

const hasControl = (value: string) => [...value].some((char) => char < " " || char === "\u007f")

/** The absolute path: `~/` is home, anything else relative to `base`. `base` and `home` are null where there is none. */
export const absolute = (written: string, base: string | null, home: string | null): Either.Either<string, string> => {
  if (isAbsolute(written)) return Either.right(resolve(written))
  const atHome = /^~(?=$|[/\\])/.test(written)
  const folder = atHome ? home : base
  if (folder !== null) return Either.right(join(folder, atHome ? written.slice(1) : written))
  return Either.left(`must be an absolute path: there is no ${atHome ? "home" : "current"} folder (${shown(written)})`)
}

/** The real path of something that may not exist yet: links are followed as far as there is anything. */
export const realPath = (path: string): string => {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = resolve(path, "..")
    return parent === path ? path : join(realPath(parent), path.slice(parent.length))
  }
}

/** Whether `inner` is `outer` or below it. Both are absolute. */
export const within = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(/[/\\]$/.test(outer) ? outer : join(outer, "/"))

/** What is at a path, links followed; otherwise why that cannot be told, in words. */
export const kindOf = (path: string): "folder" | "file" | "does not exist" | "cannot be looked at" => {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat === undefined ? "does not exist" : stat.isDirectory() ? "folder" : "file"
  } catch {
    return "cannot be looked at"
  }
}
