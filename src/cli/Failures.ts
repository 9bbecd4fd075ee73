import { Data, Effect } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"

/** A command that cannot begin or go on; the exit code is 2. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly message: string }> {}

/** The store's failures in the words of the settings' language. */
export const storeWords = <A, E, R>(effect: Effect.Effect<A, E | StoreFailed, R>) =>
  Effect.catchIf(
    effect,
    (error): error is Extract<E | StoreFailed, StoreFailed> => (error as { _tag?: string })._tag === "StoreFailed",
    (error) => Effect.flatMap(AppConfig, ({ locale }) => new CommandFailed({ message: error.text[locale] }))
  )
