import { ToolFailed } from "./ToolFailed.ts"

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist: a part of the path is a file, not a folder",
  EISDIR: "is a folder, not a file",
  EACCES: "may not be accessed (permission denied)",
  EPERM: "may not be accessed (permission denied)",
  EROFS: "is on a read-only file system",
  ENOSPC: "could not be written: no space left on the device. The old content is unchanged",
  EDQUOT: "could not be written: the disk quota is used up. The old content is unchanged",
  ELOOP: "is a symbolic link that leads in a circle, or was replaced by a link just now",
  ENAMETOOLONG: "has a name that is too long",
  ENXIO: "is not a regular file",
  EMFILE: "could not be opened: too many open files"
}

/** What the system said of `shown`, in words. */
export const fileError = (cause: unknown, shown: string): ToolFailed => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  return new ToolFailed({ message: `${shown} ${WORDS[code] ?? `could not be used: ${code || String(cause)}`}.` })
}
