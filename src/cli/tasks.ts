import { Effect, Either, Schema } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { SessionId } from "../domain/Session.ts"
import { TaskStatus } from "../domain/Task.ts"
import { statusSentence } from "../mcp/StatusText.ts"
import { Tasks } from "../task/Tasks.ts"
import type { CommandInput } from "./Command.ts"
import { CommandFailed, storeWords } from "./Failures.ts"
import { caller, out } from "./Output.ts"
import { taskJson } from "./TaskJson.ts"

const DEFAULT_LIMIT = 20

/** Newest first, a line each. */
export const tasks = (input: CommandInput) =>
  Effect.gen(function* () {
    const { locale } = yield* AppConfig
    const { state, session, limit = DEFAULT_LIMIT, json } = input.flags
    const status = yield* optional(
      state,
      Schema.decodeUnknownEither(TaskStatus),
      `--state takes one of ${TaskStatus.literals.join(", ")}`
    )
    const sessionId = yield* optional(
      session?.toLowerCase(),
      Schema.decodeUnknownEither(SessionId),
      "--session takes the UUID of a session"
    )
    const listed = yield* (yield* Tasks).list({ ...status("status"), ...sessionId("sessionId"), limit }, caller)
    const lines = listed.map((task) =>
      json
        ? taskJson(task, locale)
        : `${task.id}  ${task.status.padEnd(9)}  ${new Date(task.createdAt).toISOString()}  ${task.currentTask || statusSentence(task, locale)}`
    )
    yield* out(lines.map((line) => `${line}\n`).join(""))
    return 0
  }).pipe(storeWords)

const optional = <A>(
  text: string | undefined,
  decode: (text: unknown) => Either.Either<A, unknown>,
  accepted: string
) =>
  text === undefined
    ? Effect.succeed(<K extends string>(_: K): { readonly [P in K]?: A } => ({}))
    : Either.match(decode(text), {
        onLeft: () => Effect.fail(new CommandFailed({ message: `${accepted}, not "${text}"` })),
        onRight: (value) =>
          Effect.succeed(<K extends string>(key: K) => ({ [key]: value }) as { readonly [P in K]?: A })
      })
