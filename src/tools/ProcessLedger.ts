import { Context, Effect, Layer } from "effect"
import type { StartedGroup } from "../domain/StartedGroup.ts"

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
