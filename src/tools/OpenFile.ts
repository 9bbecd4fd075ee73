import { constants, type Stats } from "node:fs"
import { type FileHandle, lstat, open } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect, type Scope } from "effect"
import { fileError } from "./FileError.ts"
import { openParent } from "./Folder.ts"
import { ToolFailed } from "./ToolFailed.ts"
import type { Place, Workspace } from "./Workspace.ts"

export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: Stats
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/** Opens a regular file for reading; whatever else it is, is refused at once, without waiting for a writer. */
export const openFile = (workspace: Workspace, place: Place): Effect.Effect<OpenFile, ToolFailed, Scope.Scope> =>
  Effect.gen(function* () {
    if (place.shown === ".") return yield* notRegular(place, "a folder")
    const parent = yield* openParent(workspace, place, false)
    const path = join(parent.path, basename(place.real))
    const seen = yield* Effect.tryPromise({ try: () => lstat(path), catch: (cause) => fileError(cause, place.shown) })
    if (!seen.isFile()) return yield* notRegular(place, kindOf(seen))
    const handle = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => open(path, READ), catch: (cause) => fileError(cause, place.shown) }),
      (opened) => Effect.promise(() => opened.close())
    )
    const stats = yield* Effect.tryPromise({
      try: () => handle.stat(),
      catch: (cause) => fileError(cause, place.shown)
    })
    if (!stats.isFile()) return yield* notRegular(place, kindOf(stats))
    return { handle, stats }
  })

export const kindOf = (
  stats: Pick<Stats, "isDirectory" | "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice">
) => (stats.isDirectory() ? "a folder" : stats.isFIFO() ? "a named pipe" : stats.isSocket() ? "a socket" : "a device")

export const notRegular = (place: Place, kind: string): ToolFailed =>
  new ToolFailed({
    message: `${place.shown} is ${kind}, not a regular file.${kind === "a folder" ? " list_files shows what is in it." : ""}`
  })
