import { lstat, readlink, realpath, stat } from "node:fs/promises"
import { dirname, isAbsolute, join, normalize, relative, sep } from "node:path"
import { Effect } from "effect"
import type { TaskSettings } from "../domain/Settings.ts"
import { fileError } from "./FileError.ts"
import { isProtected } from "./GitGuard.ts"
import { plainLine } from "./PlainText.ts"
import { ToolFailed } from "./ToolFailed.ts"

/** The folder that every tool is confined to. `root` and `hidden` are real paths. */
export interface Workspace {
  readonly root: string
  readonly hidden: ReadonlyArray<string>
}

/** A path inside the workspace with every symlink followed. `shown` is relative to the root, `.` for the root itself. */
export interface Place {
  readonly real: string
  readonly shown: string
  readonly exists: boolean
}

const MAX_LINKS = 40

/** Fails where the workspace is gone, which a command may have brought about. */
export const openWorkspace = Effect.fn("Workspace.open")(function* (settings: TaskSettings) {
  const root = yield* Effect.tryPromise({
    try: async () => {
      const real = await realpath(settings.workspace)
      return (await stat(real)).isDirectory() ? real : null
    },
    catch: () => missing(settings.workspace)
  })
  if (root === null) return yield* missing(settings.workspace)
  const hidden = yield* Effect.forEach(settings.hidden, (folder) =>
    Effect.promise(() => realpath(folder).catch(() => folder))
  )
  return { root, hidden } satisfies Workspace
})

const missing = (folder: string) =>
  new ToolFailed({ message: `The workspace folder ${folder} does not exist any more. Nothing can be done without it.` })

export const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** Relative to the root, null for what is not below it. */
export const relativeTo = (workspace: Workspace, real: string): string | null =>
  real !== workspace.root && isInside(workspace.root, real) ? relative(workspace.root, real) : null

/** Whether `real` may be seen at all. A hidden folder that holds the workspace hides nothing of it. */
export const isVisible = (workspace: Workspace, real: string): boolean =>
  isInside(workspace.root, real) &&
  !workspace.hidden.some((folder) => !isInside(folder, workspace.root) && isInside(folder, real))

/** Finds what a path names, whether or not it exists yet; fails for whatever is not inside the workspace. */
export const locate = Effect.fn("Workspace.locate")(function* (workspace: Workspace, path: string) {
  const problem = pathProblem(path)
  if (problem !== null) return yield* new ToolFailed({ message: `Bad path: ${problem}.` })
  const wanted = isAbsolute(path) ? normalize(path) : join(workspace.root, path)
  if (!isAbsolute(path) && !isInside(workspace.root, wanted)) return yield* outside(path)
  const from = isInside(workspace.root, wanted) ? workspace.root : "/"
  const found = yield* Effect.tryPromise({
    try: () => follow(from, relative(from, wanted)),
    catch: (cause) => fileError(cause, plainLine(path, 200))
  })
  if (!isVisible(workspace, found.real)) return yield* outside(path)
  return { ...found, shown: relative(workspace.root, found.real) || "." } satisfies Place
})

const outside = (path: string) =>
  new ToolFailed({
    message: `${plainLine(path, 200)} is outside the workspace. Only files inside it can be used: give a path relative to its root, such as src/a.ts.`
  })

/** Fails for the places that the shell's sandbox keeps read-only too. */
export const requireWritable = (place: Place): Effect.Effect<void, ToolFailed> =>
  isProtected(place.shown)
    ? Effect.fail(
        new ToolFailed({ message: `${place.shown} is protected: git's hooks and settings cannot be changed.` })
      )
    : Effect.void

const pathProblem = (path: string): string | null => {
  if (path.trim() === "") return "it is empty"
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no file that a model names has them
  if (/[\x00-\x1f\x7f]/.test(path)) return "it holds a control character"
  if (/\p{Surrogate}/u.test(path)) return "it is not valid Unicode"
  if (Buffer.byteLength(path) > 4000 || path.split("/").some((part) => Buffer.byteLength(part) > 255))
    return "it is too long"
  if (path === "~" || path.startsWith("~/")) return "~ is not expanded, give a path relative to the workspace"
  if (path.includes("\\") && path.split(/[\\/]/).includes("..")) return "write it with / and inside the workspace"
  return null
}

/** Walks as the kernel does, also beyond the point where nothing exists: a dangling link is followed to where it leads. */
const follow = async (from: string, path: string): Promise<{ readonly real: string; readonly exists: boolean }> => {
  const pending = path.split("/").filter(Boolean).reverse()
  let [real, exists, links] = [from, true, 0]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "." || name === "..") {
      real = name === "." ? real : dirname(real)
      continue
    }
    const next = join(real, name)
    const found = exists ? await lstat(next).catch(unlessMissing) : null
    if (found?.isSymbolicLink()) {
      if (++links > MAX_LINKS) throw Object.assign(new Error("too many symbolic links"), { code: "ELOOP" })
      const target = await readlink(next)
      real = isAbsolute(target) ? "/" : real
      pending.push(...target.split("/").filter(Boolean).reverse())
      continue
    }
    if (found && !found.isDirectory() && pending.length > 0) throw Object.assign(new Error(), { code: "ENOTDIR" })
    exists &&= found !== null
    real = next
  }
  return { real, exists }
}

const unlessMissing = (cause: NodeJS.ErrnoException): null => {
  if (cause.code === "ENOENT") return null
  throw cause
}
