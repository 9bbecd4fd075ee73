import { readFileSync } from "node:fs"
import { readdir, readFile, readlink } from "node:fs/promises"
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
    yield* waitUntilGone(group, strays, round === 0 ? graceMillis : LAST_WAIT_MILLIS)
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
export const currentBoot: Effect.Effect<string | null> = Effect.promise(() =>
  readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (id) => id.trim(),
    () => null
  )
)

/** In clock ticks since boot; null where there is no such process or no /proc. */
export const startTimeOf = (pid: number): string | null => {
  try {
    return fieldsOf(readFileSync(`/proc/${pid}/stat`, "latin1"))[19] ?? null
  } catch {
    return null
  }
}

/** The fields from the state (the third) on: the name before them may hold anything. */
const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

const waitUntilGone = (group: Group, strays: ReadonlyArray<number>, limitMillis: number) =>
  Effect.promise(() => isGone(group, strays)).pipe(
    Effect.repeat({ until: (gone) => gone, schedule: POLL }),
    Effect.interruptible,
    Effect.timeoutOption(limitMillis)
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
          if (!`\0${await environmentOf(pid)}\0`.includes(wanted)) return false
          return fieldsOf(await readFile(`/proc/${pid}/stat`, "latin1"))[2] !== String(pgid)
        })
        return found ?? []
      })

/** While a process begins another program it has, for a moment, no environment: then it is looked at again. */
const environmentOf = async (pid: number): Promise<string> => {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1")
    // A thread of the kernel has no program, and never an environment.
    if (environment !== "" || (await readlink(`/proc/${pid}/exe`)) === "") return environment
    await setTimeout(1)
  }
  return ""
}

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
