import { Effect, Option, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Bilingual, Locale } from "../domain/Settings.ts"
import type { Task } from "../domain/Task.ts"
import { messageLimit } from "../mcp/MessageLimit.ts"
import { acceptedSentence, acceptedText, statusSentence } from "../mcp/StatusText.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { TaskQueue } from "../task/TaskQueue.ts"
import { Tasks } from "../task/Tasks.ts"
import type { CommandInput } from "./Command.ts"
import { CommandFailed, storeWords } from "./Failures.ts"
import { firstInterrupt } from "./Interrupts.ts"
import { caller, note, out } from "./Output.ts"
import { makeProgress } from "./Progress.ts"
import { readImages, readRequest } from "./RunInput.ts"
import { taskJson } from "./TaskOutput.ts"
import { isOver } from "./TaskOver.ts"

const exitCodes: Readonly<Record<string, number>> = { completed: 0, failed: 1, cancelled: 130 }

/**
 * Does the work, here or wherever the runner is, and shows it on stderr; the result goes to stdout. Ctrl-C cancels
 * the task; an interruption leaves it in the queue.
 */
export const run = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale, notices } = yield* AppConfig
    // where the work happens may be another folder than the one that the user stands in
    for (const notice of notices) yield* note(`${notice}\n`)
    const request = yield* readInput(input)
    const pressed = yield* firstInterrupt
    const task = yield* (yield* Tasks)
      .submit(request)
      .pipe(Effect.catchTag("RequestRefused", (refusal) => new CommandFailed({ message: refusal.sentences(locale) })))
    if (input.flags.detach) {
      yield* out(`${input.flags.json ? taskJson(task, locale) : acceptedText(task, locale)}\n`)
      yield* note(`${detached(task)[locale]}\n`)
      return 0
    }
    yield* note(`${acceptedSentence(task)[locale]}\n`)
    const ended = yield* Effect.onInterrupt(Effect.scoped(follow(task, pressed, locale)), () => tellStopped(task))
    yield* tell(ended, input.flags.json === true, locale)
    return exitCodes[ended.status] ?? 1
  }).pipe(storeWords, Effect.scoped)

const readInput = ({ flags, arguments: [request = ""] }: CommandInput) =>
  Effect.gen(function* () {
    const { images } = (yield* AppConfig).mcp
    return {
      request: yield* readRequest(request, messageLimit(images)),
      sessionId: flags.session ?? null,
      temperature: flags.temperature ?? null,
      images: yield* readImages(flags.image ?? [], messageLimit(images)),
      caller
    }
  })

/** Runs tasks until this one is over, unless somebody else does, and shows how far it is. */
const follow = (task: Task, pressed: Effect.Effect<void>, locale: Locale) =>
  Effect.gen(function* () {
    const tasks = yield* Tasks
    const queue = yield* TaskQueue
    const progress = yield* makeProgress({ locale, ahead: aheadOf(tasks) })
    yield* Effect.forkScoped(
      Effect.zipRight(pressed, tasks.cancel(task.id, caller)).pipe(
        Effect.catchAll((error) => note(`${error.text[locale]}\n`))
      )
    )
    yield* Effect.forkScoped(queue.run(isOver(tasks, task.id)))
    const changes = yield* tasks.watch(task.id, caller)
    const states: Stream.Stream<Task, StoreFailed> = Option.getOrElse(changes, () => Stream.make(task))
    return Option.getOrElse(yield* Stream.runLast(Stream.tap(states, progress.show)), () => task)
  })

/** How many tasks are to be over before this one begins; 0 where the store cannot tell just now. */
const aheadOf = (tasks: Tasks["Type"]) => (task: Task) =>
  Effect.forEach(["queued", "planning", "running"] as const, (status) =>
    tasks.list({ status, limit: 1000 }, caller)
  ).pipe(
    Effect.map((lists) => lists.flat().filter(({ seq }) => seq < task.seq).length),
    Effect.catchAll(() => Effect.succeed(0))
  )

const tell = (task: Task, json: boolean, locale: Locale) =>
  Effect.gen(function* () {
    const result = task.result === "" ? "" : `${task.result}\n`
    if (json) yield* out(`${taskJson(task, locale)}\n`)
    else if (task.status === "completed") yield* out(result)
    if (task.status === "failed" || (task.status === "cancelled" && !json)) yield* note(result)
  })

const tellStopped = (task: Task) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const now = Option.getOrElse(yield* (yield* Tasks).get(task.id, caller), () => task)
    yield* note(`${statusSentence(now, locale)} ${stopped(task)[locale]}\n`)
  }).pipe(Effect.ignoreLogged)

const detached = ({ id }: Task): Bilingual => ({
  ja: `実行するのは sagyo serve か sagyo stdio です（動いていなければ、次に起動したとき）。様子は: sagyo status ${id}`,
  en: `sagyo serve or sagyo stdio runs it: one that is up, or the next one that is started. How far it is: sagyo status ${id}`
})

const stopped = ({ id }: Task): Bilingual => ({
  ja: `このプロセスは終わりますが、タスクは残ります。続きは sagyo serve が実行します。取り消すには: sagyo cancel ${id}`,
  en: `This process ends, the task stays: sagyo serve goes on with it. To withdraw it: sagyo cancel ${id}`
})
