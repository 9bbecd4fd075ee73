import { Deferred, Effect, Either, Option, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Task } from "../domain/Task.ts"
import { acceptedText, statusSentence } from "../mcp/StatusText.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { TaskQueue } from "../task/TaskQueue.ts"
import { Tasks } from "../task/Tasks.ts"
import type { CommandInput } from "./Command.ts"
import { CommandFailed, storeWords } from "./Failures.ts"
import { caller, note, out } from "./Output.ts"
import { makeProgress } from "./Progress.ts"
import { readImages, readRequest } from "./RunInput.ts"
import { taskJson } from "./TaskJson.ts"
import { isOver } from "./TaskOver.ts"

const exitCodes = { completed: 0, failed: 1, cancelled: 130 }

/** Does the work, here or wherever the runner is, and shows it on stderr; the result goes to stdout. SIGINT cancels. */
export const run = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const tasks = yield* Tasks
    const queue = yield* TaskQueue
    const { session = null, temperature = null, image = [], detach, json } = input.flags
    const task = yield* tasks
      .submit({
        request: yield* readRequest(input.arguments[0]!),
        sessionId: session,
        temperature,
        images: yield* readImages(image),
        caller
      })
      .pipe(Effect.catchTag("RequestRefused", (refusal) => new CommandFailed({ message: refusal.sentences(locale) })))
    if (detach) {
      yield* out(`${json ? taskJson(task, locale) : acceptedText(task, locale)}\n`)
      yield* note(`${texts.detached[locale]}\n`)
      return 0
    }
    yield* Effect.forkScoped(cancelOnInterrupt(tasks, task))
    yield* Effect.forkScoped(queue.run(isOver(tasks, task.id)))
    const changes = yield* tasks.watch(task.id, caller)
    const progress = yield* makeProgress(locale)
    const states: Stream.Stream<Task, StoreFailed> = Option.getOrElse(changes, () => Stream.make(task))
    const last = yield* Stream.runLast(Stream.tap(states, progress.show))
    yield* progress.end
    const ended = Option.getOrElse(last, () => task)
    if (json) yield* out(`${taskJson(ended, locale)}\n`)
    else if (ended.status === "completed") yield* out(`${ended.result}\n`)
    else yield* note(`${statusSentence(ended, locale)}\n${ended.result === "" ? "" : `${ended.result}\n`}`)
    if (json && ended.status === "failed") yield* note(`${ended.result}\n`)
    return exitCodes[ended.status as keyof typeof exitCodes]
  }).pipe(storeWords, Effect.scoped)

/** Ctrl-C: the first one cancels the task, a second one ends the process at once. */
const cancelOnInterrupt = (tasks: Tasks["Type"], task: Task) =>
  Effect.gen(function* () {
    const pressed = yield* Deferred.make<void>()
    const listener = () => Deferred.unsafeDone(pressed, Effect.void)
    yield* Effect.acquireRelease(
      Effect.sync(() => process.once("SIGINT", listener)),
      () => Effect.sync(() => process.off("SIGINT", listener))
    )
    yield* Deferred.await(pressed)
    yield* Effect.ignoreLogged(Effect.either(tasks.cancel(task.id, caller)).pipe(Effect.map(Either.isRight)))
  })

const texts = {
  detached: {
    ja: "実行するには、動いている sagyo serve か sagyo stdio が必要です。状態は sagyo status で分かります。",
    en: "A running sagyo serve or sagyo stdio will run it; sagyo status tells how far it is."
  }
}
