import { Effect, Option, Schema } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { SessionId } from "../domain/Session.ts"
import type { Bilingual, Locale } from "../domain/Settings.ts"
import { type Task, TaskStatus } from "../domain/Task.ts"
import { statusMessage } from "../mcp/StatusText.ts"
import { type TaskFilter, Tasks } from "../task/Tasks.ts"
import type { CommandInput } from "./Command.ts"
import { fitted } from "./DisplayWidth.ts"
import { CommandFailed, storeWords } from "./Failures.ts"
import { caller, note, out } from "./Output.ts"
import { taskJson } from "./TaskOutput.ts"

const DEFAULT_LIMIT = 20

/** Newest first, a line each. */
export const tasks = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const { json } = input.flags
    const filter = yield* filterOf(input.flags)
    const listed = yield* (yield* Tasks).list(filter, caller)
    yield* out(listed.map((task) => `${json ? taskJson(task, locale) : row(task, locale)}\n`).join(""))
    if (listed.length === 0 && !json) yield* note(`${none[locale]}\n`)
    return 0
  }).pipe(storeWords)

const filterOf = ({ state, session, limit = DEFAULT_LIMIT }: CommandInput["flags"]) =>
  Effect.gen(function* () {
    const status = yield* decoded(TaskStatus, state, `--state takes one of ${TaskStatus.literals.join(", ")}`)
    const sessionId = yield* decoded(SessionId, session?.toLowerCase(), "--session takes the UUID of a session")
    return {
      ...(status !== undefined && { status }),
      ...(sessionId !== undefined && { sessionId }),
      limit
    } satisfies TaskFilter
  })

const decoded = <A, I>(schema: Schema.Schema<A, I>, text: string | undefined, accepted: string) =>
  text === undefined
    ? Effect.succeed(undefined)
    : Option.match(Schema.decodeUnknownOption(schema)(text), {
        onNone: () => new CommandFailed({ message: `${accepted}, not "${text}"` }),
        onSome: (value) => Effect.succeed<A | undefined>(value)
      })

const row = (task: Task, locale: Locale): string => {
  const columns = process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY
  const began = new Date(task.createdAt).toISOString()
  return fitted(`${task.id}  ${task.status.padEnd(9)}  ${began}  ${statusMessage(task, locale)}`, columns)
}

const none: Bilingual = { ja: "該当するタスクはありません。", en: "There are no such tasks." }
