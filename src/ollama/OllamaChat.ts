import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { Deferred, Effect, Stream } from "effect"
import { ChatTurn } from "./ChatTurn.ts"
import { NdjsonLines } from "./NdjsonLines.ts"
import { withUsage } from "./OllamaBackOff.ts"
import { type OllamaError, OllamaRefused, OllamaStreamBroken } from "./OllamaError.ts"
import { type Asked, failureOf } from "./OllamaFailure.ts"
import { bodyText, transportReason } from "./OllamaHttp.ts"
import type { ChatReply } from "./OllamaSchema.ts"
import { errorText } from "./ServerText.ts"

/** A record longer than this is no record, in bytes. */
const LINE_LIMIT = 64 * 1024 * 1024

/** As much of an error's body as is read, in bytes. */
const REFUSAL_LIMIT = 64 * 1024

/** How long the end of the body is waited for once the last record has come. */
const LINGER = "1 second"

/** What the whole answer to a chat says: a turn, or an error with what the server had counted by then. */
export const readChat = (
  response: HttpClientResponse.HttpClientResponse,
  asked: Asked,
  onDelta: (content: string, thinking: string) => Effect.Effect<void>
): Effect.Effect<ChatReply, OllamaError> => {
  const isPage = (response.headers["content-type"] ?? "").includes("text/html")
  return response.status === 200 && !isPage ? readTurn(response, asked, onDelta) : readRefusal(response, asked)
}

/** The error that a response without a stream stands for. */
export const readRefusal = (
  response: HttpClientResponse.HttpClientResponse,
  asked: Asked
): Effect.Effect<never, OllamaError> =>
  Effect.flatMap(refusalBody(response), (body) => {
    const message = errorText(body) || `HTTP status ${response.status}`
    const failure = response.status < 400 ? new OllamaRefused({ status: response.status, message }) : null
    return Effect.fail(failure ?? failureOf(response.status, message, asked))
  })

/** A status says enough where its body does not come. */
const refusalBody = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> =>
  bodyText(response, REFUSAL_LIMIT).pipe(
    Effect.timeout("10 seconds"),
    Effect.orElseSucceed(() => "")
  )

const readTurn = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  asked: Asked,
  onDelta: (content: string, thinking: string) => Effect.Effect<void>
) {
  const turn = new ChatTurn()
  const lines = new NdjsonLines(LINE_LIMIT)
  const ended = yield* Deferred.make<void>()
  const broken = (message: string) => new OllamaStreamBroken({ message, usage: turn.usage })

  const take = (line: string): Effect.Effect<void, OllamaError> => {
    if (turn.ended || line.trim() === "") return Effect.void
    const event = turn.add(line)
    if (event._tag === "Error") return Effect.fail(withUsage(failureOf(200, event.message, asked), turn.usage))
    if (event._tag === "Garbage") return Effect.fail(broken(`the stream held what is no record: ${event.raw}`))
    const told = event.content + event.thinking === "" ? Effect.void : onDelta(event.content, event.thinking)
    return turn.ended ? Effect.zipRight(told, Deferred.succeed(ended, undefined)) : told
  }

  const read = response.stream.pipe(
    Stream.mapError((error) => broken(`the stream broke off: ${transportReason(error)}`)),
    Stream.catchAll((error) => (turn.ended ? Stream.empty : Stream.fail(error))),
    Stream.mapConcatEffect((chunk) => {
      const cut = lines.push(chunk)
      return cut === null ? Effect.fail(broken(`a record was longer than ${LINE_LIMIT} bytes`)) : Effect.succeed(cut)
    }),
    Stream.runForEach(take),
    Effect.andThen(Effect.suspend(() => take(lines.rest())))
  )
  yield* Effect.raceFirst(read, Effect.zipRight(Deferred.await(ended), Effect.sleep(LINGER)))
  if (turn.ended) return turn.reply
  const held = turn.unknown === null ? "" : `; it held: ${turn.unknown}`
  return yield* broken(`the stream ended before its last record${held}`)
})
