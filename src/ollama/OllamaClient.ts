import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { Context, Effect, Layer, Schema } from "effect"
import { withBackOff } from "./OllamaBackOff.ts"
import { readChat, readRefusal } from "./OllamaChat.ts"
import { type OllamaError, OllamaRefused, OllamaUnavailable } from "./OllamaError.ts"
import { bodyText, noAnswer, ollamaHttp } from "./OllamaHttp.ts"
import type { ChatReply, ChatRequest, ModelInfo, RunningModel } from "./OllamaSchema.ts"
import { chatBody, PsBody, ShowBody, TagsBody, VersionBody } from "./OllamaWire.ts"
import { errorText } from "./ServerText.ts"

/**
 * A piece of the answer as it arrives. `attempt` counts from 1: where it grows, the answer began anew, and
 * what earlier attempts had said is void.
 */
export interface ChatDelta {
  readonly content: string
  readonly thinking: string
  readonly attempt: number
}

/**
 * Ollama's HTTP API. `baseUrl` is given with each call, since a task keeps the server that it was accepted with.
 * Interrupting a call closes its socket, before headers, in mid-stream and in a back-off.
 */
export class OllamaClient extends Context.Tag("sagyo/ollama/OllamaClient")<
  OllamaClient,
  {
    /**
     * One streamed turn, retried with a back-off where the failure may pass; no attempt begins later than
     * 30 seconds after the first failure. There is no limit to how long the server may be silent.
     */
    readonly chat: (
      baseUrl: string,
      request: ChatRequest,
      onDelta?: (delta: ChatDelta) => Effect.Effect<void>
    ) => Effect.Effect<ChatReply, OllamaError>
    /** As the three below: one attempt of at most ten seconds. */
    readonly show: (baseUrl: string, model: string) => Effect.Effect<ModelInfo, OllamaError>
    readonly tags: (
      baseUrl: string
    ) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly size: number }>, OllamaError>
    readonly ps: (baseUrl: string) => Effect.Effect<ReadonlyArray<RunningModel>, OllamaError>
    readonly version: (baseUrl: string) => Effect.Effect<string, OllamaError>
  }
>() {
  static readonly layer: Layer.Layer<OllamaClient> = Layer.effect(
    OllamaClient,
    Effect.map(HttpClient.HttpClient, (http) => make(HttpClient.withTracerPropagation(http, false)))
  ).pipe(Layer.provide(ollamaHttp))
}

const ASK_TIMEOUT = "10 seconds"
const ASK_LIMIT = 32 * 1024 * 1024

const make = (http: HttpClient.HttpClient): Context.Tag.Service<OllamaClient> => {
  /** A call that answers at once, with one JSON document. */
  const ask = <A, I>(baseUrl: string, path: string, body: Schema.Schema<A, I>, model?: string) => {
    const url = baseUrl + path
    const request = model === undefined ? HttpClientRequest.get(url) : postJson(url, { model })
    return http.execute(request).pipe(
      Effect.flatMap(
        (response): Effect.Effect<A, OllamaError | HttpClientError> =>
          response.status === 200
            ? Effect.flatMap(bodyText(response, ASK_LIMIT), decodeAs(body, path))
            : readRefusal(response, { model: model ?? "", images: 0 })
      ),
      Effect.catchTags({ RequestError: noAnswer(baseUrl), ResponseError: noAnswer(baseUrl) }),
      Effect.timeoutFail({
        duration: ASK_TIMEOUT,
        onTimeout: () =>
          new OllamaUnavailable({ status: null, message: `${path} did not answer within ${ASK_TIMEOUT}` })
      })
    )
  }

  return {
    chat: Effect.fn("OllamaClient.chat")(function* (baseUrl, request, onDelta = () => Effect.void) {
      const asked = { model: request.model, images: request.messages.flatMap((each) => each.images ?? []).length }
      const post = postJson(`${baseUrl}/api/chat`, chatBody(request))
      return yield* withBackOff((attempt) =>
        http.execute(post).pipe(
          Effect.catchAll(noAnswer(baseUrl)),
          Effect.flatMap((response) =>
            readChat(response, asked, (content, thinking) => onDelta({ content, thinking, attempt }))
          )
        )
      )
    }),
    show: Effect.fn("OllamaClient.show")(function* (baseUrl, model) {
      const shown = yield* ask(baseUrl, "/api/show", ShowBody, model)
      return {
        capabilities: shown.capabilities ?? [],
        contextLength: contextLength(shown.model_info ?? {}),
        remoteHost: shown.remote_host || null
      }
    }),
    tags: Effect.fn("OllamaClient.tags")(function* (baseUrl) {
      const { models = [] } = yield* ask(baseUrl, "/api/tags", TagsBody)
      return models.map(({ name, size = 0 }) => ({ name, size }))
    }),
    ps: Effect.fn("OllamaClient.ps")(function* (baseUrl) {
      const { models = [] } = yield* ask(baseUrl, "/api/ps", PsBody)
      return models.map(({ name, size = null, context_length = null }) => ({
        name,
        size,
        contextLength: context_length
      }))
    }),
    version: Effect.fn("OllamaClient.version")(function* (baseUrl) {
      return (yield* ask(baseUrl, "/api/version", VersionBody)).version
    })
  }
}

const postJson = (url: string, body: unknown) => HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(url), body)

const decodeAs =
  <A, I>(schema: Schema.Schema<A, I>, path: string) =>
  (body: string): Effect.Effect<A, OllamaRefused> =>
    Schema.decodeUnknown(Schema.parseJson(schema))(body).pipe(
      Effect.mapError(
        () =>
          new OllamaRefused({ status: 200, message: `${path} answered what is none of Ollama's: ${errorText(body)}` })
      )
    )

/** What the model was trained for stands under the name of its architecture. */
const contextLength = (info: Readonly<Record<string, unknown>>): number | null => {
  const value = info[`${String(info["general.architecture"])}.context_length`]
  return typeof value === "number" && Number.isFinite(value) ? value : null
}
