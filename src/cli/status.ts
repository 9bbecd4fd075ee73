import { Effect, Option } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { Tasks } from "../task/Tasks.ts"
import type { CommandInput } from "./Command.ts"
import { storeWords } from "./Failures.ts"
import { caller, out } from "./Output.ts"
import { notFoundOutput, taskOutput } from "./TaskOutput.ts"

/** A task's state as `agent_status` tells it; exit code 1 where there is none, or it belongs to another session. */
export const status = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const tasks = yield* Tasks
    const id = input.arguments[0]!.toLowerCase()
    const session = input.flags.session?.toLowerCase()
    const json = input.flags.json === true
    const found = Option.filter(
      yield* tasks.get(id, caller),
      (task) => session === undefined || task.sessionId === session
    )
    yield* out(
      Option.match(found, {
        onNone: () => notFoundOutput(id, json, locale),
        onSome: (task) => taskOutput(task, json, locale)
      })
    )
    return Option.isSome(found) ? 0 : 1
  }).pipe(storeWords)
