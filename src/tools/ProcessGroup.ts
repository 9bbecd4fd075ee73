import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { Effect, Schedule } from "effect"
import type { StartedGroup } from "../domain/StartedGroup.ts"

/** A process group, and the processes that left it (`setsid`) but still carry `marker` in their environment. */
export interface Group {
  readonly pgid: number
  /** `NAME=value`; null where leaving the group is impossible, since a PID namespace dies with it. */
  readonly marker: string | null
}

const POLL = Schedule.exponential("1 millis", 1.5).pipe(Schedule.union(Schedule.spaced("20 millis")))
const MAX_ROUNDS = 4
const LAST_WAIT_MILLIS = 1000
const MAX_TRIES = 5

/**
 * Ends the group: SIGTERM, and SIGKILL for what is left after `grace`. Returns when all of it is gone; what
 * cannot be killed (another user's, stuck in the kernel) is waited for some seconds at most.
 */
export const endGroup = Effect.fn("ProcessGroup.end")(function* (group: Group, graceMillis: number) {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const name = round === 0 ? "SIGTERM" : "SIGKILL"
    const inGroup = signal(-group.pgid, name)
    // Looked for anew in each round, since what is being ended may go on forking.
    const strays = yield* straysOf(group)
    for (const pid of strays) signal(pid, name)
    if (!inGroup && strays.length === 0) return
    const gone = yield* waitUntilGone(group, strays, round === 0 ? graceMillis : LAST_WAIT_MILLIS)
    if (gone && group.marker === null) return
  }
}, Effect.uninterruptible)

/** Ends what is left of a group that a dead process had started; nothing where it is a later one's. */
export const endLeftover = Effect.fn("ProcessGroup.endLeftover")(function* (left: StartedGroup) {
  const bootId = yield* currentBoot
  if (bootId === null || bootId !== left.bootId) return
  const isLeader = left.startTime !== null && startTimeOf(left.pgid) === left.startTime
  yield* endGroup({ pgid: isLeader ? left.pgid : 0, marker: left.marker }, 0)
})

/** Null where the system has none. */
export const currentBoot: Effect.Effect<string | null> = Effect.sync(() => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  } catch {
    return null
  }
})

/** In clock ticks since boot; null where there is no such process or no /proc. */
export const startTimeOf = (pid: number): string | null => fieldsOf(read(pid, "stat"))[19] ?? null

/** The fields from the state (the third) on: the name before them may hold anything. */
const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

const waitUntilGone = (group: Group, strays: ReadonlyArray<number>, limitMillis: number): Effect.Effect<boolean> =>
  Effect.sync(() => isGone(group, strays)).pipe(
    Effect.repeat({ until: (gone) => gone, schedule: POLL }),
    Effect.interruptible,
    Effect.timeoutTo({ duration: limitMillis, onSuccess: () => true, onTimeout: () => false })
  )

/** Corpses that their parent is slow to collect, or never does, as in a container without an init, count as gone. */
const isGone = (group: Group, strays: ReadonlyArray<number>): boolean => {
  if (!signal(-group.pgid, 0) && !strays.some((pid) => signal(pid, 0))) return true
  const pids = allProcesses()
  if (pids === null) return false
  return !pids.some((pid) => {
    const [state, , pgid] = fieldsOf(read(pid, "stat"))
    return state !== undefined && state !== "Z" && (pgid === String(group.pgid) || strays.includes(pid))
  })
}

const straysOf = ({ marker, pgid }: Group): Effect.Effect<ReadonlyArray<number>> =>
  marker === null
    ? Effect.succeed([])
    : Effect.promise(async () => {
        const wanted = `\0${marker}\0`
        const pids = allProcesses() ?? []
        const marked = await Promise.all(pids.map(async (pid) => `\0${await environmentOf(pid)}\0`.includes(wanted)))
        return pids.filter((pid, index) => marked[index] && fieldsOf(read(pid, "stat"))[2] !== String(pgid))
      })

/** While a process begins another program it has, for a moment, no environment: then it is looked at again. */
const environmentOf = async (pid: number): Promise<string> => {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const environment = read(pid, "environ")
    if (environment !== "" || !hasProgram(pid)) return environment
    await setTimeout(1)
  }
  return ""
}

/** False for threads of the kernel, which never have an environment either, and for what may not be looked at. */
const hasProgram = (pid: number): boolean => {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== ""
  } catch {
    return false
  }
}

/** Null where there is no /proc. */
const allProcesses = (): ReadonlyArray<number> | null => {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 1 && pid !== process.pid)
  } catch {
    return null
  }
}

/** Empty for processes that ended meanwhile or are another user's. Files of /proc do not wait for a disk. */
const read = (pid: number, file: "stat" | "environ"): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1")
  } catch {
    return ""
  }
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
