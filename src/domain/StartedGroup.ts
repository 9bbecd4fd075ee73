import type { TaskId } from "./Task.ts"

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
