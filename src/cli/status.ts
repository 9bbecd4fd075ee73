import { Effect, Option } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { notFoundSentence, notFoundText, statusText } from "../mcp/StatusText.ts"
import { Tasks } from "../task/Tasks.ts"
import type { CommandInput } from "./Command.ts"
import { storeWords } from "./Failures.ts"
import { caller, out } from "./Output.ts"
import { taskJson } from "./TaskJson.ts"

/** A task's state as `agent_status` tells it; exit code 1 where there is none. */
export const status = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const tasks = yield* Tasks
    const id = input.arguments[0]!.toLowerCase()
    const session = input.flags.session?.toLowerCase()
    const found = Option.filter(
      yield* storeWords(tasks.get(id, caller)),
      (task) => session === undefined || task.sessionId === session
    )
    if (Option.isNone(found)) {
      const json = { task_id: id, status: "failed", message: notFoundSentence(id)[locale] }
      yield* out(`${input.flags.json ? JSON.stringify(json) : notFoundText(id, locale)}\n`)
      return 1
    }
    yield* out(`${input.flags.json ? taskJson(found.value, locale) : statusText(found.value, locale)}\n`)
    return 0
  })
