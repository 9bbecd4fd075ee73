import { Context, Effect, Layer } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { type Caller, nameOf } from "../domain/Caller.ts"
import type { RequestRefused } from "../domain/Problem.ts"
import { Sql } from "../store/Sql.ts"
import { StoreChanges } from "../store/StoreChanges.ts"

/** Where refusals are written: into the application log and the audit log, with the words that the caller gets. */
export class RefusalLog extends Context.Tag("sagyo/task/RefusalLog")<
  RefusalLog,
  {
    /** Never fails: a store that cannot be written is said in the application log. */
    readonly write: (refusal: RequestRefused, caller: Caller) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    RefusalLog,
    Effect.gen(function* () {
      const { locale } = yield* AppConfig
      const { immediate } = yield* Sql
      const audit = yield* AuditLog
      const changes = yield* StoreChanges
      return {
        write: Effect.fn("RefusalLog.write")((refusal: RequestRefused, caller: Caller) => {
          const reason = refusal.sentences(locale)
          const event = { event: "refused" as const, caller: nameOf(caller), detail: { reason } }
          return Effect.logWarning("refused", { reason, caller: nameOf(caller) }).pipe(
            Effect.zipRight(immediate(audit.append([event]))),
            Effect.zipRight(changes.signal),
            Effect.catchAll((error) => Effect.logError("a refusal could not be stored", { reason: error.reason }))
          )
        })
      }
    })
  )
}
