import { Clock, Effect, Schedule, type Scope } from "effect"
import type { Locale } from "../domain/Settings.ts"
import { isTerminal, type Task } from "../domain/Task.ts"
import { draw, note } from "./Output.ts"
import { type ProgressView, progressLine, timedLine } from "./ProgressLine.ts"

/** Shows how far a task is on stderr: on a terminal one line that is alive, elsewhere a line for each change. */
export interface Progress {
  readonly show: (task: Task) => Effect.Effect<void>
}

export interface ProgressOptions {
  readonly locale: Locale
  /** How many tasks come before this one. */
  readonly ahead: (task: Task) => Effect.Effect<number>
}

const FRAME = "100 millis"
const SECOND = "1 second"
const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
const hideCursor = "\u001b[?25l"
const showCursor = "\u001b[?25h"
const clearLine = "\r\u001b[K"

export const makeProgress = (options: ProgressOptions): Effect.Effect<Progress, never, Scope.Scope> =>
  process.stderr.isTTY && process.env.TERM !== "dumb" ? live(options) : plain(options)

/** The time runs on also when nothing changes. The last state stays on the screen when the scope closes. */
const live = (options: ProgressOptions) =>
  Effect.gen(function* () {
    const { locale } = options
    const view = yield* makeView(options)
    let frame = 0
    const columns = () => Math.max(1, (process.stderr.columns || 80) - 1)
    const redraw = Effect.flatMap(view.now, (now) => {
      if (now === undefined) return Effect.void
      if (isTerminal(now.task.status)) return draw(clearLine)
      frame = (frame + 1) % frames.length
      return draw(`${clearLine}${frames[frame]} ${timedLine(now, locale, columns() - 2)}`)
    })
    // also where the process ends without a clean-up, as by a second Ctrl-C
    const restore = () => void process.stderr.write(`${clearLine}${showCursor}`)
    yield* Effect.acquireRelease(
      Effect.zipRight(
        draw(hideCursor),
        Effect.sync(() => process.once("exit", restore))
      ),
      () =>
        Effect.gen(function* () {
          process.off("exit", restore)
          const last = yield* view.now
          const line = last === undefined ? "" : `${timedLine(last, locale, columns())}\n`
          yield* draw(`${clearLine}${line}${showCursor}`)
        })
    )
    yield* Effect.forkScoped(Effect.repeat(view.refresh, Schedule.spaced(SECOND)))
    yield* Effect.forkScoped(Effect.repeat(redraw, Schedule.spaced(FRAME)))
    return { show: (task: Task) => Effect.zipRight(view.set(task), redraw) }
  })

const plain = (options: ProgressOptions) =>
  Effect.gen(function* () {
    const view = yield* makeView(options)
    let shown = ""
    const print = Effect.flatMap(view.now, (now) => {
      const line = now === undefined ? "" : progressLine(now, options.locale)
      if (now === undefined || line === shown) return Effect.void
      shown = line
      return note(`${timedLine(now, options.locale)}\n`)
    })
    yield* Effect.forkScoped(Effect.repeat(Effect.zipRight(view.refresh, print), Schedule.spaced(SECOND)))
    return { show: (task: Task) => Effect.zipRight(view.set(task), print) }
  })

/** The newest state, with what only the clock and the queue know. */
const makeView = ({ ahead }: ProgressOptions) =>
  Effect.map(Clock.currentTimeNanos, (begun) => {
    let task: Task | undefined
    let place: number | null = null
    const seconds = Effect.map(Clock.currentTimeNanos, (now) => Number((now - begun) / 1_000_000_000n))
    const look = Effect.gen(function* () {
      place = task?.status === "queued" ? yield* ahead(task) : null
    })
    return {
      set: (next: Task) =>
        Effect.suspend(() => {
          const isNews = task?.status !== next.status
          task = next
          return isNews ? look : Effect.void
        }),
      /** Looks at the queue again. */
      refresh: look,
      now: Effect.map(seconds, (passed): ProgressView | undefined =>
        task === undefined ? undefined : { task, ahead: place, elsewhere: passed >= 1 && place === 0, seconds: passed }
      )
    }
  })
