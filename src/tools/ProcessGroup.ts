import { readdir, readFile } from "node:fs/promises"
import { type Duration, Effect, Schedule } from "effect"
import type { StartedGroup } from "../domain/StartedGroup.ts"

/** A process group, and the processes that left it (`setsid`) but still carry `marker` in their environment. */
export interface Group {
  readonly pgid: number
  /** `NAME=value`; null where leaving the group is impossible, since a PID namespace dies with it. */
  readonly marker: string | null
}

const POLL = Schedule.exponential("1 millis", 1.5).pipe(Schedule.union(Schedule.spaced("20 millis")))
const LAST_WAIT = "1 second"

/**
 * Ends the group: SIGTERM, and SIGKILL for what is left after `grace`. Returns when all of it is gone; what
 * cannot be killed (another user's, stuck in the kernel) is waited for at most a second.
 */
export const endGroup = Effect.fn("ProcessGroup.end")(function* (group: Group, graceMillis: number) {
  const inGroup = signal(-group.pgid, "SIGTERM")
  const strays = yield* straysOf(group)
  for (const pid of strays) signal(pid, "SIGTERM")
  if (!inGroup && strays.length === 0) return
  if (yield* waitUntilGone(group, strays, `${graceMillis} millis`)) return
  signal(-group.pgid, "SIGKILL")
  const left = yield* straysOf(group)
  for (const pid of left) signal(pid, "SIGKILL")
  yield* waitUntilGone(group, left, LAST_WAIT)
}, Effect.uninterruptible)

/** Ends what is left of a group that a dead process had started; nothing where it is a later one's. */
export const endLeftover = Effect.fn("ProcessGroup.endLeftover")(function* (left: StartedGroup) {
  const bootId = yield* currentBoot
  if (bootId === null || bootId !== left.bootId) return
  const leader = yield* Effect.promise(() => startTimeOf(left.pgid))
  const strays = yield* straysOf({ pgid: 0, marker: left.marker })
  for (const pid of strays) signal(pid, "SIGKILL")
  if (leader !== null && leader === left.startTime) signal(-left.pgid, "SIGKILL")
  yield* waitUntilGone({ pgid: leader === left.startTime ? left.pgid : 0, marker: null }, strays, LAST_WAIT)
})

/** Null where the system has none. */
export const currentBoot: Effect.Effect<string | null> = Effect.promise(() =>
  readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (id) => id.trim(),
    () => null
  )
)

/** In clock ticks since boot; null where there is no such process or no /proc. */
export const startTimeOf = (pid: number): Promise<string | null> =>
  readFile(`/proc/${pid}/stat`, "latin1").then(
    (stat) => fieldsOf(stat)[19] ?? null,
    () => null
  )

/** The fields from the state (the third) on: the name before them may hold anything. */
const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

const waitUntilGone = (group: Group, strays: ReadonlyArray<number>, limit: Duration.DurationInput) =>
  Effect.promise(() => isGone(group, strays)).pipe(
    Effect.repeat({ until: (gone) => gone, schedule: POLL }),
    Effect.interruptible,
    Effect.timeoutTo({ duration: limit, onSuccess: (gone) => gone, onTimeout: () => false })
  )

/** Corpses that their parent does not collect, as in a container without an init, count as gone. */
const isGone = async (group: Group, strays: ReadonlyArray<number>): Promise<boolean> => {
  if (!signal(-group.pgid, 0) && !strays.some((pid) => signal(pid, 0))) return true
  const living = await findProcesses(async (pid) => {
    const [state, , pgid] = fieldsOf(await readFile(`/proc/${pid}/stat`, "latin1"))
    return state !== "Z" && (pgid === String(group.pgid) || strays.includes(pid))
  })
  return living !== null && living.length === 0
}

const straysOf = ({ marker, pgid }: Group): Effect.Effect<ReadonlyArray<number>> =>
  marker === null
    ? Effect.succeed([])
    : Effect.promise(async () => {
        const wanted = `\0${marker}\0`
        const found = await findProcesses(async (pid) => {
          if (!`\0${await readFile(`/proc/${pid}/environ`, "latin1")}\0`.includes(wanted)) return false
          return fieldsOf(await readFile(`/proc/${pid}/stat`, "latin1"))[2] !== String(pgid)
        })
        return found ?? []
      })

/** Null where there is no /proc. Processes that end meanwhile, or are another user's, count as no match. */
const findProcesses = async (matches: (pid: number) => Promise<boolean>): Promise<ReadonlyArray<number> | null> => {
  const names = await readdir("/proc").catch(() => null)
  if (names === null) return null
  const pids = names.map(Number).filter((pid) => pid > 1 && pid !== process.pid)
  const found = await Promise.all(pids.map((pid) => matches(pid).catch(() => false)))
  return pids.filter((_, index) => found[index])
}

/** Whether there was anybody to signal. */
const signal = (target: number, name: NodeJS.Signals | 0): boolean => {
  // 0, 1 and -1 would mean everybody.
  if (Math.abs(target) <= 1) return false
  try {
    return process.kill(target, name)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}
