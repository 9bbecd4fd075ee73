import { constants, existsSync } from "node:fs"
import { type FileHandle, lstat, mkdir, open } from "node:fs/promises"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { fileError } from "./FileError.ts"
import type { ToolFailed } from "./ToolFailed.ts"
import type { Place, Workspace } from "./Workspace.ts"

/** A folder that is held open. `path` names the folder itself, wherever its name leads by now. */
export interface Folder {
  readonly path: string
}

// Linux resolves a name below /proc/self/fd/N as openat does: what was checked is what is used, also
// when a command exchanges a folder for a symlink in between. Elsewhere names are all there is.
const byDescriptor = process.platform === "linux" && existsSync("/proc/self/fd")
const O_PATH = process.platform === "linux" ? 0o10000000 : 0
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH

/** The folder that holds `place`, opened step by step from the root without following any link; made where `create` is set. */
export const openParent = (
  workspace: Workspace,
  place: Place,
  create: boolean
): Effect.Effect<Folder, ToolFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => descend(workspace.root, place.shown.split("/").slice(0, -1), create),
      catch: (cause) => fileError(cause, place.shown)
    }),
    ({ handle }) => Effect.promise(() => handle.close())
  )

const descend = async (root: string, names: ReadonlyArray<string>, create: boolean) => {
  let path = root
  let handle = await open(path, FOLDER)
  try {
    for (const name of names) {
      path = join(pathOf(handle, path), name)
      if (create) await mkdir(path).catch(unlessThere)
      if (!byDescriptor && (await lstat(path)).isSymbolicLink()) throw Object.assign(new Error(), { code: "ELOOP" })
      const next = await open(path, FOLDER)
      await handle.close()
      handle = next
    }
  } catch (cause) {
    await handle.close()
    throw cause
  }
  return { handle, path: pathOf(handle, path) }
}

const pathOf = (handle: FileHandle, path: string) => (byDescriptor ? `/proc/self/fd/${handle.fd}` : path)

const unlessThere = (cause: NodeJS.ErrnoException) => {
  if (cause.code !== "EEXIST") throw cause
}
