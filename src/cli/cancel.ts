import { Effect, Option, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Bilingual } from "../domain/Settings.ts"
import { isTerminal } from "../domain/Task.ts"
import { TaskQueue } from "../task/TaskQueue.ts"
import { Tasks } from "../task/Tasks.ts"
import type { CommandInput } from "./Command.ts"
import { storeWords } from "./Failures.ts"
import { caller, note, out } from "./Output.ts"
import { notFoundOutput, taskOutput } from "./TaskOutput.ts"
import { isOver } from "./TaskOver.ts"

/** Cancels and waits for the clean-up; exit code 1 where there is no such task, or it was over before. */
export const cancel = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const tasks = yield* Tasks
    const queue = yield* TaskQueue
    const id = input.arguments[0]!.toLowerCase()
    const json = input.flags.json === true
    const before = yield* tasks.get(id, caller)
    if (Option.isNone(before)) {
      yield* out(notFoundOutput(id, json, locale))
      return 1
    }
    if (isTerminal(before.value.status)) {
      yield* note(`${alreadyOver(id)[locale]}\n`)
      yield* out(taskOutput(before.value, json, locale))
      return 1
    }
    yield* tasks.cancel(id, caller)
    // where the runner is dead, nobody else would finish the cancel
    yield* Effect.forkScoped(queue.run(isOver(tasks, id)))
    const changes = yield* tasks.watch(id, caller)
    const last = yield* Stream.runLast(Option.getOrElse(changes, () => Stream.empty))
    const ended = Option.getOrElse(last, () => before.value)
    yield* out(taskOutput(ended, json, locale))
    return ended.status === "cancelled" ? 0 : 1
  }).pipe(Effect.scoped, storeWords)

const alreadyOver = (id: string): Bilingual => ({
  ja: `タスク ${id} はすでに終わっています。`,
  en: `Task ${id} was over already.`
})
