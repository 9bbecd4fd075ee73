import { Context, Effect, Layer } from "effect"
import type { TaskId } from "../domain/Task.ts"

/**
 * A process group that was started for a task. A process id alone names nothing for long: `startTime` (clock
 * ticks since boot, field 22 of `/proc/PID/stat`) and `bootId` tell it from a later one; both are null
 * where there is no /proc. `marker` (`NAME=value`) stands in the environment of all its descendants.
 */
export interface StartedGroup {
  readonly taskId: TaskId
  readonly pgid: number
  readonly startTime: string | null
  readonly bootId: string | null
  readonly marker: string
}

/** Remembers process groups beyond the death of this process, so that the next one can end them. */
export class ProcessLedger extends Context.Tag("sagyo/tools/ProcessLedger")<
  ProcessLedger,
  {
    /** Returns once it is remembered. */
    readonly record: (group: StartedGroup) => Effect.Effect<void>
    /** The group is gone. */
    readonly forget: (group: StartedGroup) => Effect.Effect<void>
  }
>() {
  /** Remembers nothing. */
  static readonly none = Layer.succeed(ProcessLedger, { record: () => Effect.void, forget: () => Effect.void })
}
