import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import { Either } from "effect"
import { absolute } from "./SettingsPath.ts"
import type { Sources } from "./Sources.ts"

/** A settings file's text, without its BOM. */
export interface ConfigText {
  readonly file: string
  readonly text: string
}

/** No settings file is longer. */
const maxBytes = 64 * 1024

/** The first settings file there is, or null. One that was named must be there; the current folder is never searched. */
export const findConfigFile = (sources: Sources): Either.Either<ConfigText | null, string> => {
  const named = sources.flags.config !== undefined ? (["--config", sources.flags.config] as const) : variable(sources)
  if (named !== null) {
    const [name, written] = named
    if (written === "") return Either.left(`${name}: must name a file`)
    return absolute(written, sources.cwd, sources.home).pipe(
      Either.mapLeft((words) => `${name}: ${words}`),
      Either.flatMap((file) =>
        exists(file) ? read(file) : Either.left(`${file}: there is no such file (${name}); "sagyo init" writes one`)
      )
    )
  }
  const found = searched(sources).find(exists)
  return found === undefined ? Either.right(null) : read(found)
}

const variable = (sources: Sources) =>
  sources.env.SAGYO_CONFIG ? (["SAGYO_CONFIG", sources.env.SAGYO_CONFIG] as const) : null

const searched = ({ env, home, packageRoot }: Sources): ReadonlyArray<string> => {
  const xdg = env.XDG_CONFIG_HOME
  // A relative one is to be ignored, says the specification: it would be the current folder's.
  const folder = xdg && isAbsolute(xdg) ? xdg : home === null ? null : join(home, ".config")
  return [
    ...(folder === null ? [] : [join(folder, "sagyo", "agent.yaml")]),
    ...(packageRoot === null ? [] : [join(packageRoot, "agent.yaml")])
  ]
}

/** A link to nothing exists, so that it is an error and not silently another file. */
const exists = (file: string): boolean => {
  try {
    lstatSync(file)
    return true
  } catch (cause) {
    return !["ENOENT", "ENOTDIR"].includes((cause as NodeJS.ErrnoException).code ?? "")
  }
}

const read = (file: string): Either.Either<ConfigText, string> =>
  Either.try({ try: () => bytesOf(resolve(file)), catch: (cause) => `${file}: cannot be read: ${reason(cause)}` }).pipe(
    Either.flatMap((bytes) => decode(file, bytes)),
    Either.map((text) => ({ file, text }))
  )

// Without O_NONBLOCK a named pipe would hold the program up until somebody writes to it.
const bytesOf = (file: string): Uint8Array => {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(handle)
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? "it is a folder" : "it is not a regular file")
    const buffer = new Uint8Array(maxBytes + 1)
    let length = 0
    for (let read = 1; read > 0 && length < buffer.length; length += read) {
      read = readSync(handle, buffer, length, buffer.length - length, null)
    }
    if (length > maxBytes) throw new Error(`it is longer than ${maxBytes / 1024} KiB`)
    return buffer.subarray(0, length)
  } finally {
    closeSync(handle)
  }
}

const reason = (cause: unknown): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  const known: Record<string, string> = {
    EACCES: "permission denied",
    ENOENT: "it is a link to nothing",
    ELOOP: "its links go round in a circle",
    EISDIR: "it is a folder"
  }
  return known[code ?? ""] ?? message
}

const decode = (file: string, bytes: Uint8Array): Either.Either<string, string> => {
  const utf16 =
    bytes.length > 1 &&
    ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff) || bytes.includes(0))
  if (utf16) return Either.left(`${file}:1:1: not valid UTF-8 (it looks like UTF-16): save it as UTF-8`)
  return Either.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => `${file}:${badLine(bytes)}: not valid UTF-8: save the file as UTF-8`
  })
}

/** The line and column of the first bytes that are no UTF-8. */
const badLine = (bytes: Uint8Array): string => {
  let column = 1
  let line = 1
  for (const char of Buffer.from(bytes).toString("utf8")) {
    if (char === "\ufffd") break
    column = char === "\n" ? 1 : column + 1
    line += char === "\n" ? 1 : 0
  }
  return `${line}:${column}`
}
