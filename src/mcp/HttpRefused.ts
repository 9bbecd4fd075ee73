import { Data } from "effect"
import { ErrorCode, type ErrorReply, errorReply } from "./JsonRpc.ts"

/** A request that never reaches the protocol. The body of its answer is a JSON-RPC error, without an id unless one was read. */
export class HttpRefused extends Data.TaggedError("HttpRefused")<{
  readonly status: number
  readonly reply: ErrorReply
  readonly headers: Readonly<Record<string, string>>
}> {}

export const refused = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code: number = ErrorCode.refused
): HttpRefused => new HttpRefused({ status, reply: errorReply(code, message), headers })
