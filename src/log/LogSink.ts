import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs"
import type { Writable } from "node:stream"
import { Effect, type Scope } from "effect"

/** Where entries go. Writing never throws and keeps nothing in memory beyond a bound: what cannot be written is lost, and counted. */
export interface LogSink {
  readonly write: (line: string) => void
}

/** More than this is not kept for a reader that does not read. */
const maxWaiting = 256 * 1024

const lossOf = (count: number): string =>
  `${JSON.stringify({ time: new Date().toISOString(), level: "warn", message: `${count} log entries before this one were lost: they could not be written` })}\n`

/** An open file: each entry is one write at its end, so that processes can share it. A full disk loses entries until there is room. */
export const descriptorSink = (fd: number): LogSink => {
  let lost = 0
  let torn = false
  const attempt = (line: string): boolean => {
    const bytes = Buffer.from(torn ? `\n${line}` : line)
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(fd, bytes, written)
      torn = false
      return true
    } catch {
      torn = torn ? written !== 1 : written > 0
      return false
    }
  }
  return {
    write: (line) => {
      if (attempt(lost > 0 ? lossOf(lost) + line : line)) lost = 0
      else lost += 1
    }
  }
}

/** A pipe, a socket or a terminal. Once its reader is gone (EPIPE) everything is dropped. */
export const streamSink = (open: () => Writable): LogSink => {
  let stream: Writable | undefined
  let closed = false
  let lost = 0
  return {
    write: (line) => {
      if (stream === undefined) {
        stream = open()
        stream.on("error", () => {
          closed = true
        })
      }
      if (closed || stream.destroyed) return
      if (stream.writableLength > maxWaiting) lost += 1
      else {
        stream.write(lost > 0 ? lossOf(lost) + line : line)
        lost = 0
      }
    }
  }
}

/** Standard error. Where it is a file it is written as one, since Node's stream ends for good at a full disk. */
export const stderrSink = (): LogSink => (isFile(2) ? descriptorSink(2) : streamSink(() => process.stderr))

const isFile = (fd: number): boolean => {
  try {
    return fstatSync(fd).isFile()
  } catch {
    return false
  }
}

/** Opens the file for the life of the scope, or fails with the reason in words. A new file is the owner's alone (mode 0600). */
export const fileSink = (path: string): Effect.Effect<LogSink, string, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openLog(path),
      catch: (cause) => `${path} cannot be written: ${(cause as Error).message}`
    }),
    (fd) => Effect.sync(() => closeSync(fd))
  ).pipe(Effect.map(descriptorSink))

// Without O_NONBLOCK a named pipe would hold the program up until somebody reads it.
const openLog = (path: string): number => {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600)
  const stat = fstatSync(fd)
  if (stat.isFile() || stat.isCharacterDevice()) return fd
  closeSync(fd)
  throw new Error("it is not a regular file")
}
