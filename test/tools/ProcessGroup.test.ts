import { spawn } from "node:child_process"
import { once } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { currentBoot, endLeftover, startTimeOf } from "../../src/tools/ProcessGroup.ts"
import { isRunning, TASK, until } from "./ToolKit.ts"

/** A process group as one that a killed program left behind: a leader and a child in a session of its own. */
const leftover = (marker: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const [name = "", value = ""] = marker.split("=")
      const child = spawn("bash", ["-c", "setsid sleep 987 & echo $!; exec sleep 986"], {
        detached: true,
        stdio: ["ignore", "pipe", "ignore"],
        env: { PATH: process.env.PATH, [name]: value }
      })
      const [line] = (await once(child.stdout!, "data")) as [Buffer]
      return { pid: child.pid!, stray: Number(line.toString()) }
    }),
    ({ pid, stray }) =>
      Effect.sync(() => {
        for (const one of [pid, stray]) if (isRunning(one)) process.kill(one, "SIGKILL")
      })
  )

describe("endLeftover", () => {
  it.scopedLive("ends what a dead program had started, and what went into a session of its own", () =>
    Effect.gen(function* () {
      const marker = "SAGYO_CALL=11111111-0000-4000-8000-000000000001"
      const { pid, stray } = yield* leftover(marker)
      const startTime = startTimeOf(pid)
      yield* endLeftover({ taskId: TASK, pgid: pid, startTime, bootId: yield* currentBoot, marker })
      yield* until(() => !isRunning(pid))
      assert.isFalse(isRunning(stray))
    })
  )

  it.scopedLive("leaves a later process of the same id alone, and everything of an earlier boot", () =>
    Effect.gen(function* () {
      const marker = "SAGYO_CALL=11111111-0000-4000-8000-000000000002"
      const { pid, stray } = yield* leftover(marker)
      const startTime = startTimeOf(pid)
      const bootId = yield* currentBoot
      const other = "SAGYO_CALL=11111111-0000-4000-8000-000000000003"
      yield* endLeftover({ taskId: TASK, pgid: pid, startTime: "1", bootId, marker: other })
      yield* endLeftover({ taskId: TASK, pgid: pid, startTime, bootId: "another", marker })
      assert.isTrue(isRunning(pid))
      assert.isTrue(isRunning(stray))
    })
  )
})
