import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { ErrorCode, errorReply } from "./JsonRpc.ts"

/**
 * Answers what is no HTTP, or came too slowly, as every other refusal is answered, and closes the connection.
 * Where an answer is under way on it already, nothing is written into that.
 */
export const answerBrokenRequests = (server: Server): void => {
  const answering = new WeakMap<Socket, ServerResponse>()
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    answering.set(request.socket, response)
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = answering.get(socket)
    const free = response === undefined || !response.headersSent || response.writableFinished
    if (socket.writable && free) socket.end(rawAnswer(statuses[error.code ?? ""] ?? 400), () => socket.destroy())
    else socket.destroy()
  })
  server.on("checkExpectation", (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(417, { "content-type": "application/json", connection: "close" })
    response.end(body(417))
  })
}

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408
}

const body = (status: number): string => JSON.stringify(errorReply(ErrorCode.refused, STATUS_CODES[status] ?? ""))

const rawAnswer = (status: number): string => {
  const text = body(status)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
    "",
    text
  ].join("\r\n")
}
