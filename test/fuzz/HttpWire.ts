import { connect, type Socket } from "node:net"
import { Effect } from "effect"

/** An answer as it stands on the wire. */
export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Sends pieces over a socket, ends the sending side, and gives all bytes that came back until the socket closed. */
export const exchangeBytes = (port: number, pieces: ReadonlyArray<Buffer>): Effect.Effect<Buffer> =>
  Effect.async((resume) => {
    const parts: Array<Buffer> = []
    const socket: Socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    socket.on("connect", () => {
      for (const piece of pieces) socket.write(piece)
      socket.end()
    })
    socket.on("data", (part) => parts.push(part))
    socket.on("error", () => {}) // a reset is a close as well
    socket.on("close", () => resume(Effect.succeed(Buffer.concat(parts))))
    return Effect.sync(() => socket.destroy())
  })

/**
 * Reads the answers of a connection one after the other; throws where something else than whole answers stands there.
 * The answer to a HEAD has a length and no body, unless it was too broken to be known as one.
 */
export const answersIn = (bytes: Buffer, firstIsHead = false): ReadonlyArray<RawAnswer> => {
  const answers: Array<RawAnswer> = []
  let rest = bytes.toString("latin1")
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n")
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    if (end < 0 || Number.isNaN(status)) throw new Error(`no answer: ${rest.slice(0, 200)}`)
    const headers = new Map(
      lines.map((line) => [line.split(":", 1)[0]?.toLowerCase() ?? "", line.slice(line.indexOf(":") + 1).trim()])
    )
    rest = rest.slice(end + 4)
    if (status === 100) continue
    const [body, after] =
      firstIsHead && answers.length === 0 && !rest.startsWith("{") ? ["", rest] : bodyOf(rest, status, headers)
    rest = after
    answers.push({ status, headers, body: Buffer.from(body, "latin1").toString("utf8") })
  }
  return answers
}

const bodyOf = (rest: string, status: number, headers: ReadonlyMap<string, string>): readonly [string, string] => {
  if (headers.get("transfer-encoding") === "chunked") return chunksOf(rest)
  const length = Number(headers.get("content-length") ?? (status === 202 ? 0 : Number.NaN))
  if (!Number.isInteger(length) || rest.length < length) throw new Error(`a body that is cut: ${rest.slice(0, 200)}`)
  return [rest.slice(0, length), rest.slice(length)]
}

const chunksOf = (rest: string): readonly [string, string] => {
  let body = ""
  for (let left = rest; ; ) {
    const end = left.indexOf("\r\n")
    const length = Number.parseInt(left.slice(0, end), 16)
    if (end < 0 || Number.isNaN(length)) throw new Error(`a chunk that is cut: ${left.slice(0, 200)}`)
    const next = end + 2 + length
    body += left.slice(end + 2, next)
    left = left.slice(next + 2)
    if (length === 0) return [body, left]
  }
}
