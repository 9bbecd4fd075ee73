import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { Effect, Option } from "effect"
import { endGroup, startTimeOf } from "./ProcessGroup.ts"
import { ToolFailed } from "./ToolFailed.ts"

export interface ChildOptions {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly cwd: string
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMillis: number
  /** How long SIGTERM is given before SIGKILL. */
  readonly graceMillis: number
  /** See `Group`. */
  readonly marker: string | null
  readonly onStdout: (chunk: Buffer) => void
  readonly onStderr: (chunk: Buffer) => void
  /** Runs before anything can end the child; see `StartedGroup` for the start time. */
  readonly onStarted?: (pgid: number, startTime: string | null) => Effect.Effect<void>
}

export interface ChildEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  readonly millis: number
}

const DRAIN = "250 millis"

interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly pgid: number
  readonly startTime: string | null
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  readonly closed: Promise<void>
  /** Whether nothing is left that would have to be ended. */
  ended: boolean
}

/**
 * Runs a program in a session of its own (so without a terminal) with an empty stdin. It is over when the program
 * exits, whoever still holds its pipes: the processes that it left are ended. On timeout and on interruption the
 * whole group is ended, and this returns when it is gone.
 */
export const runChild = (options: ChildOptions): Effect.Effect<ChildEnd, ToolFailed> =>
  Effect.acquireUseRelease(
    Effect.tap(start(options), ({ pgid, startTime }) => options.onStarted?.(pgid, startTime) ?? Effect.void),
    (running) => follow(running, options),
    (running) =>
      Effect.zipRight(
        end(running, options),
        Effect.sync(() => {
          running.child.stdout.destroy()
          running.child.stderr.destroy()
        })
      )
  )

const end = Effect.fn("ChildProcess.end")(function* (running: Running, options: ChildOptions) {
  if (running.ended) return
  yield* endGroup({ pgid: running.pgid, marker: options.marker }, options.graceMillis)
  running.ended = true
})

const start = (options: ChildOptions): Effect.Effect<Running, ToolFailed> =>
  Effect.async((resume) => {
    const [program, ...args] = options.argv
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"]
    })
    // Before anything can have waited for it: a corpse still says when it was born.
    const startTime = child.pid === undefined ? null : startTimeOf(child.pid)
    child.stdout.on("data", options.onStdout)
    child.stderr.on("data", options.onStderr)
    child.on("error", (cause: NodeJS.ErrnoException) => resume(Effect.fail(notStarted(program, cause))))
    const exited = new Promise<Awaited<Running["exited"]>>((resolve) =>
      child.once("exit", (code, signal) => resolve({ code, signal }))
    )
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()))
    child.once("spawn", () =>
      resume(Effect.succeed({ child, pgid: child.pid!, startTime, exited, closed, ended: false }))
    )
  })

const notStarted = (program: string, cause: NodeJS.ErrnoException) =>
  new ToolFailed({
    message:
      cause.code === "E2BIG"
        ? "The command is too long for the system. Write it into a script with write_file and run that."
        : `${program} could not be started: ${cause.code ?? cause.message}.`
  })

const follow = Effect.fn("ChildProcess.follow")(function* (running: Running, options: ChildOptions) {
  const begun = performance.now()
  const exit = yield* Effect.promise(() => running.exited).pipe(Effect.timeoutOption(options.timeoutMillis))
  const millis = performance.now() - begun
  yield* end(running, options)
  yield* Effect.promise(() => running.closed).pipe(Effect.timeoutOption(DRAIN))
  return Option.match(exit, {
    onNone: (): ChildEnd => ({ exitCode: null, signal: null, timedOut: true, millis }),
    onSome: ({ code, signal }): ChildEnd => ({ exitCode: code, signal, timedOut: false, millis })
  })
})
