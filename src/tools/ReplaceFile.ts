import { randomBytes } from "node:crypto"
import { constants, type Stats } from "node:fs"
import { access, type FileHandle, lstat, open, readdir, rename, unlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect } from "effect"
import { fileError } from "./FileError.ts"
import { openParent } from "./Folder.ts"
import { kindOf, notRegular } from "./OpenFile.ts"
import { type Place, requireWritable, type Workspace } from "./Workspace.ts"

const CHUNK = 1024 * 1024
const TEMPORARY = /^\.sagyo-(\d+)-[0-9a-f]{12}\.tmp$/

/** Whether a name is that of a file which is still being written. */
export const isTemporary = (name: string): boolean => TEMPORARY.test(name)

/**
 * Puts `bytes` in the place of a file, wholly or not at all: a new file is written beside it, flushed
 * and renamed over it. Mode and owner stay; other hard links keep the old content. Gives whether the file is new.
 */
export const replaceFile = Effect.fn("ReplaceFile.replace")(function* (
  workspace: Workspace,
  place: Place,
  bytes: Uint8Array
) {
  yield* requireWritable(place)
  if (place.shown === ".") return yield* notRegular(place, "a folder")
  const attempt = <A>(work: () => Promise<A>) =>
    Effect.tryPromise({ try: work, catch: (cause) => fileError(cause, place.shown) })
  const folder = yield* openParent(workspace, place, true)
  const target = join(folder.path, basename(place.real))
  const old = yield* attempt(() => lstat(target).catch(unlessMissing))
  if (old !== null && !old.isFile()) return yield* notRegular(place, old.isSymbolicLink() ? "a link" : kindOf(old))
  if (old !== null) yield* attempt(() => access(target, constants.W_OK))
  yield* attempt(() => removeStale(folder.path))
  const temporary = join(folder.path, `.sagyo-${process.pid}-${randomBytes(6).toString("hex")}.tmp`)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  yield* Effect.acquireUseRelease(
    attempt(() => open(temporary, flags, old === null ? 0o666 : 0o600)),
    (handle) =>
      Effect.gen(function* () {
        for (let at = 0; at < bytes.length; at += CHUNK) {
          yield* attempt(() => handle.appendFile(bytes.subarray(at, at + CHUNK)))
        }
        yield* attempt(() => finish(handle, old))
        yield* Effect.uninterruptible(attempt(() => rename(temporary, target)))
      }),
    // After the rename there is nothing of that name: only a failed or interrupted write leaves something to remove.
    (handle) => Effect.promise(() => handle.close().then(() => unlink(temporary).catch(unlessMissing)))
  )
  return old === null
}, Effect.scoped)

const finish = async (handle: FileHandle, old: Stats | null) => {
  if (old !== null) {
    // Who is not root cannot give a file away; the mode comes last, since a new owner clears setuid bits.
    await handle.chown(old.uid, old.gid).catch(() => undefined)
    await handle.chmod(old.mode & 0o7777)
  }
  await handle.sync()
}

/** Removes what a process that is gone left behind. */
const removeStale = async (folder: string) => {
  for (const name of await readdir(folder)) {
    const pid = Number(TEMPORARY.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) await unlink(join(folder, name)).catch(unlessMissing)
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}

const unlessMissing = (cause: NodeJS.ErrnoException): null => {
  if (cause.code === "ENOENT") return null
  throw cause
}
