import { Context, Effect, Layer } from "effect"
import type { StartedGroup } from "../domain/StartedGroup.ts"
import type { TaskId } from "../domain/Task.ts"
import { Sql } from "./Sql.ts"
import type { StoreFailed } from "./StoreFailed.ts"

interface Row {
  readonly marker: string
  readonly pgid: number
  readonly start_time: string | null
  readonly boot_id: string | null
  readonly task_id: TaskId
}

/**
 * The process groups that tasks have started and that are not known to be gone. Rows are safe from the death of this
 * process, not from a power failure: no process outlives one.
 */
export class ProcessRepo extends Context.Tag("sagyo/store/ProcessRepo")<
  ProcessRepo,
  {
    readonly record: (group: StartedGroup) => Effect.Effect<void, StoreFailed>
    readonly forget: (group: StartedGroup) => Effect.Effect<void, StoreFailed>
    readonly all: Effect.Effect<ReadonlyArray<StartedGroup>, StoreFailed>
  }
>() {
  static readonly layer = Layer.effect(
    ProcessRepo,
    Effect.gen(function* () {
      const { sql, unsynced, read } = yield* Sql
      return {
        record: Effect.fn("ProcessRepo.record")((group: StartedGroup) =>
          unsynced(
            sql`INSERT INTO processes ${sql.insert({
              marker: group.marker,
              pgid: group.pgid,
              start_time: group.startTime,
              boot_id: group.bootId,
              task_id: group.taskId
            })}`
          )
        ),
        forget: Effect.fn("ProcessRepo.forget")((group: StartedGroup) =>
          unsynced(
            sql`DELETE FROM processes WHERE marker = ${group.marker} AND pgid = ${group.pgid} AND start_time IS ${group.startTime}`
          )
        ),
        all: Effect.map(read(sql<Row>`SELECT * FROM processes`), (rows) =>
          rows.map((row) => ({
            taskId: row.task_id,
            pgid: row.pgid,
            startTime: row.start_time,
            bootId: row.boot_id,
            marker: row.marker
          }))
        )
      }
    })
  )
}
