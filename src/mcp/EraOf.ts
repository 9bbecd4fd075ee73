import { classifyInboundRequest, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server"
import { Either } from "effect"
import { type Era, modernVersion } from "./Era.ts"
import { ErrorCode, type ErrorReply, errorReply, isRequest, type Message, type Request } from "./JsonRpc.ts"

/** The headers that say what the body says, so that what stands between need not read it. */
export interface StandardHeaders {
  readonly protocolVersion: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

/** Why a message belongs to no era that is served; `status` is for HTTP. */
export interface EraFault {
  readonly status: number
  readonly reply: ErrorReply
}

/**
 * The era of a message, which is judged by itself: what names a protocol version in its `_meta` is modern, the
 * rest is of the `initialize` era. The headers, where a transport has them, must be there and must agree.
 */
export const eraOf = (message: Message, headers?: StandardHeaders): Either.Either<Era, EraFault> => {
  const classified = classifyInboundRequest({
    httpMethod: "POST",
    body: message,
    ...(headers?.protocolVersion !== undefined && { protocolVersionHeader: headers.protocolVersion }),
    ...(headers?.method !== undefined && { mcpMethodHeader: headers.method })
  })
  const fault = (status: number, code: number, text: string, data?: unknown) =>
    Either.left({ status, reply: errorReply(code, text, message.id, data) })

  if (classified.kind === "reject") {
    return fault(classified.httpStatus, classified.code, classified.message, classified.data)
  }
  if (classified.kind === "legacy") {
    const named = message.method === "initialize" ? undefined : headers?.protocolVersion?.trim()
    return named === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(named)
      ? Either.right("legacy")
      : fault(400, ErrorCode.refused, `Bad Request: unsupported protocol version ${named}`)
  }
  if (!isRequest(message)) return Either.right("modern")
  const { revision } = classified.classification
  if (revision !== modernVersion) {
    const data = { supported: [modernVersion], requested: revision ?? "unknown" }
    return fault(400, ErrorCode.unsupportedVersion, "Unsupported protocol version", data)
  }
  const disagreement = headers === undefined ? undefined : disagreementOf(message, headers)
  return disagreement === undefined
    ? Either.right("modern")
    : fault(400, ErrorCode.headerMismatch, `Bad Request: the headers and the body disagree: ${disagreement}`)
}

/** What of the body `Mcp-Name` repeats. */
const named: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId"
}

const disagreementOf = ({ method, params }: Request, headers: StandardHeaders): string | undefined => {
  if (headers.protocolVersion === undefined) return "MCP-Protocol-Version is missing"
  if (headers.method === undefined) return "Mcp-Method is missing"
  const member = Object.hasOwn(named, method) ? named[method] : undefined
  const inBody = member === undefined ? undefined : params?.[member]
  if (typeof inBody !== "string") return undefined
  if (headers.name === undefined) return "Mcp-Name is missing"
  return decoded(headers.name.trim()) === inBody ? undefined : `Mcp-Name is not the params' ${member}`
}

/** Names that a header cannot hold come as Base64 between two marks. */
const decoded = (name: string): string | undefined => {
  const base64 = /^=\?base64\?(.*)\?=$/.exec(name)?.[1]
  if (base64 === undefined) return name
  const bytes = Buffer.from(base64, "base64")
  return bytes.toString("base64") === base64 ? bytes.toString("utf8") : undefined
}
