import { lstat, mkdir, readdir, readFile, realpath, rm } from "node:fs/promises"
import { basename, isAbsolute, join, relative, resolve } from "node:path"
import { Array as Arr, Effect, Option } from "effect"
import { openParent } from "./Folder.ts"
import type { Workspace } from "./Workspace.ts"

/** What git runs or is told to run: whoever writes it runs commands outside the sandbox, the next time git is used. */
const GUARDED = ["hooks", "config", "config.worktree", "commondir"]
const MAX_FOLDERS = 500
const MAX_MODULES = 100

/** Whether a path relative to the workspace is one that no tool may write. Letter case is ignored, as some file systems do. */
export const isProtected = (relativePath: string): boolean => {
  const parts = relativePath.toLowerCase().split("/")
  const git = parts.indexOf(".git")
  if (git < 0) return false
  const [first, ...rest] = parts.slice(git + 1)
  if (first === undefined || GUARDED.includes(first)) return true
  return (first === "modules" || first === "worktrees") && rest.some((part) => GUARDED.includes(part))
}

/** How a sandbox keeps git's own files as they are. All paths are real. */
export interface GitGuard {
  /** Mounted on themselves, read-write: a mount point cannot be renamed away from under what is in it. */
  readonly pinned: ReadonlyArray<string>
  readonly readOnly: ReadonlyArray<string>
  /** A file of this name sends git elsewhere for its settings. It cannot be mounted, so it is removed afterwards. */
  readonly unwanted: ReadonlyArray<string>
}

/** Looks at the repository that the workspace is, at those right below it, and at their submodules. */
export const guardGit = async (root: string): Promise<GitGuard> => {
  const guard: { [K in keyof GitGuard]: Array<string> } = { pinned: [], readOnly: [], unwanted: [] }
  const folders = await readdir(root, { withFileTypes: true }).catch(() => [])
  const below = folders.filter((entry) => entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules")
  for (const name of ["", ...below.slice(0, MAX_FOLDERS).map((entry) => entry.name)]) {
    const git = join(root, name, ".git")
    const stats = await lstat(git).catch(() => null)
    if (stats?.isFile()) {
      guard.readOnly.push(git)
      if (name === "") guard.readOnly.push(...(await worktreeOf(root, git)))
    } else if (stats?.isDirectory()) {
      guard.pinned.push(git)
      await guardFolder(git, guard)
      for (const module of await modulesOf(join(git, "modules"), MAX_MODULES)) await guardFolder(module, guard)
    }
  }
  return guard
}

/** To be called when a command has ended; gives what was removed, by its path in the workspace. */
export const removeUnwanted = Effect.fn("GitGuard.removeUnwanted")(function* (workspace: Workspace, guard: GitGuard) {
  const removed = yield* Effect.forEach(guard.unwanted, (path) => removeOne(workspace, path))
  return Arr.getSomes(removed)
})

/** The command may have put a link in the place of a folder above: none is followed. */
const removeOne = (workspace: Workspace, path: string): Effect.Effect<Option.Option<string>> =>
  Effect.gen(function* () {
    const shown = relative(workspace.root, path)
    const folder = yield* openParent(workspace, { real: path, shown, exists: true }, false)
    const target = join(folder.path, basename(path))
    const isThere = yield* Effect.promise(() =>
      lstat(target).then(
        () => true,
        () => false
      )
    )
    if (!isThere) return Option.none()
    yield* Effect.promise(() => rm(target, { recursive: true, force: true }))
    return Option.some(shown)
  }).pipe(
    Effect.scoped,
    // The folder is gone, or is no folder any more: then there is nothing in it.
    Effect.orElseSucceed(() => Option.none())
  )

const guardFolder = async (git: string, guard: { readOnly: Array<string>; unwanted: Array<string> }) => {
  // What is not there cannot be mounted over. An empty hooks folder is what `git init` makes anyway.
  await mkdir(join(git, "hooks")).catch(() => undefined)
  for (const name of GUARDED) {
    const path = join(git, name)
    const stats = await lstat(path).catch(() => null)
    if (stats === null) guard.unwanted.push(path)
    else if (!stats.isSymbolicLink()) guard.readOnly.push(path)
  }
}

const modulesOf = async (folder: string, limit: number): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  const open = [folder]
  for (let next = open.shift(); next !== undefined && found.length < limit; next = open.shift()) {
    const path = next
    const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
    const isGit = entries.some((entry) => entry.name === "HEAD" && entry.isFile())
    if (isGit) found.push(path)
    const inner = isGit ? entries.filter((entry) => entry.name === "modules") : entries
    open.push(...inner.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name)))
  }
  return found
}

/**
 * The repository that a worktree belongs to, which lies outside the workspace: it is shown read-only, so that git can
 * look and not write. Only where that repository itself names this worktree: the file `.git` may be anybody's.
 */
const worktreeOf = async (root: string, file: string): Promise<ReadonlyArray<string>> => {
  const pointer = /^gitdir: (.+)$/m.exec(await readFile(file, "utf8").catch(() => ""))?.[1]
  if (pointer === undefined) return []
  const gitDir = await realpath(resolve(root, pointer)).catch(() => null)
  if (gitDir === null) return []
  const back = (await readFile(join(gitDir, "gitdir"), "utf8").catch(() => "")).trim()
  if ((await realpath(isAbsolute(back) ? back : resolve(gitDir, back)).catch(() => null)) !== file) return []
  const common = (await readFile(join(gitDir, "commondir"), "utf8").catch(() => "")).trim()
  const whole = await realpath(resolve(gitDir, common)).catch(() => null)
  return whole === null || !gitDir.startsWith(`${whole}/worktrees/`) ? [] : [whole]
}
