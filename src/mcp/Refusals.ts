import { MissingRequiredClientCapabilityError, ProtocolError } from "@modelcontextprotocol/server"
import { Data } from "effect"
import type { RequestRefused } from "../domain/Problem.ts"
import type { Locale } from "../domain/Settings.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { ErrorCode } from "./JsonRpc.ts"

/** No such task, or none any more, or one that the caller may not see: nobody can tell which. */
export class TaskNotFound extends Data.TaggedError("TaskNotFound")<{ readonly taskId: string }> {}

export class ToolNotFound extends Data.TaggedError("ToolNotFound")<{ readonly name: string }> {}

/** A `tasks/*` request of a client that did not declare the extension in it. */
export class TasksUndeclared extends Data.TaggedError("TasksUndeclared") {}

export class InvalidParams extends Data.TaggedError("InvalidParams")<{ readonly message: string }> {}

/** As many subscriptions are open as may be. */
export class TooManySubscriptions extends Data.TaggedError("TooManySubscriptions") {}

/** A defect; its cause is in the log and nowhere else. */
export class InternalFailure extends Data.TaggedError("InternalFailure") {}

export const tasksExtension = "io.modelcontextprotocol/tasks"

/** The sentences of a tool error, one line for each problem. */
export const sentencesOf = (error: RequestRefused | StoreFailed, locale: Locale): string =>
  error._tag === "RequestRefused" ? error.sentences(locale) : error.text[locale]

/** The one table from what may go wrong to what a client is answered outside of a tool's result. */
export const protocolErrorOf = (
  error:
    | TaskNotFound
    | ToolNotFound
    | TasksUndeclared
    | InvalidParams
    | TooManySubscriptions
    | InternalFailure
    | StoreFailed,
  locale: Locale
): ProtocolError => {
  switch (error._tag) {
    case "TaskNotFound":
      return new ProtocolError(ErrorCode.invalidParams, "Task not found")
    case "ToolNotFound":
      return new ProtocolError(ErrorCode.invalidParams, `Unknown tool: ${error.name}`)
    case "TasksUndeclared":
      return new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [tasksExtension]: {} } }
      })
    case "InvalidParams":
      return new ProtocolError(ErrorCode.invalidParams, `Invalid params: ${error.message}`)
    case "TooManySubscriptions":
      return new ProtocolError(ErrorCode.internal, "Subscription limit reached")
    case "StoreFailed":
      return new ProtocolError(ErrorCode.internal, error.text[locale])
    case "InternalFailure":
      return new ProtocolError(ErrorCode.internal, "Internal error")
  }
}
