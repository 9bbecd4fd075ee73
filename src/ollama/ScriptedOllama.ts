import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { ChatMessage, ToolDefinition } from "./OllamaSchema.ts"
import { argumentsRefusal, chatProblems } from "./ScriptedChatCheck.ts"
import { refusalOf, runningBody, type ScriptedModel, sameModel, showBody, tagBody } from "./ScriptedModel.ts"
import { closeOf, play } from "./ScriptedPlay.ts"
import { error, json, plain, type Reply } from "./ScriptedReply.ts"

/** The body of a chat as it came. */
export interface ScriptedChatBody {
  readonly model: string
  readonly messages: ReadonlyArray<ChatMessage>
  readonly tools?: ReadonlyArray<ToolDefinition>
  readonly format?: unknown
  readonly think?: unknown
  readonly options: Readonly<Record<string, unknown>>
  readonly keep_alive: unknown
}

/** A chat that came in. `index` counts from 0, over all of them. */
export interface ScriptedRequest {
  readonly index: number
  readonly body: ScriptedChatBody
  readonly headers: IncomingHttpHeaders
  /** Settles when the response is over: false where the client went away before its end. */
  readonly finished: Promise<boolean>
}

/** Any request, such as `GET /api/version`. */
export interface ScriptedExchange {
  readonly route: string
  /** Settles when the response is over: false where the client went away before its end. */
  readonly finished: Promise<boolean>
}

/** A reply, or a function that makes one of the request, so that a script can react to tool results. */
export type ScriptEntry = Reply | ((request: ScriptedRequest) => Reply | Promise<Reply>)

export interface ScriptedOllamaOptions {
  /** The first is the default; `scripted` with tools where none is given. */
  readonly models?: ReadonlyArray<ScriptedModel>
  /** Answers every chat beyond the script; without it such a chat is refused and counts as a problem. */
  readonly otherwise?: ScriptEntry
  /** Refuses chats that lack what this program always sends; true where it is left out. */
  readonly strict?: boolean
  /** Answers of the other paths that are not the usual ones, such as `"GET /api/version": [hang]`. */
  readonly plain?: Readonly<Record<string, Reply>>
  readonly host?: string
  readonly port?: number
  readonly version?: string
}

/**
 * An Ollama on loopback that plays a script: a real HTTP server that takes one entry for each chat,
 * and checks what it was asked. Chats that a real server refuses before it asks the model (an unknown
 * model, tools where it has none) are refused likewise and take no entry.
 */
export class ScriptedOllama {
  /** Everything that was asked of `/api/chat`, in order. */
  readonly requests: Array<ScriptedRequest> = []
  /** Every request of any kind, in order. */
  readonly exchanges: Array<ScriptedExchange> = []
  /** What was wrong with what was asked. */
  readonly problems: Array<string> = []
  models: ReadonlyArray<ScriptedModel>
  readonly #script: Array<ScriptEntry>
  readonly #options: ScriptedOllamaOptions
  readonly #running = new Map<string, number>()
  readonly #arrivals: Array<Signal<ScriptedRequest>> = []
  readonly #exchanged: Array<Signal<ScriptedExchange>> = []
  readonly #waits: Array<Signal<void>> = []
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy()) // the client left while it was still sending
  })

  /** Listens when the promise is fulfilled. */
  static async start(script: ReadonlyArray<ScriptEntry>, options: ScriptedOllamaOptions = {}): Promise<ScriptedOllama> {
    const scripted = new ScriptedOllama(script, options)
    scripted.#server.listen(options.port ?? 0, options.host ?? "127.0.0.1")
    await once(scripted.#server, "listening")
    return scripted
  }

  private constructor(script: ReadonlyArray<ScriptEntry>, options: ScriptedOllamaOptions) {
    this.#script = [...script]
    this.#options = options
    this.models = options.models ?? [{ name: "scripted" }]
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Adds entries at the script's end. */
  push(...entries: ReadonlyArray<ScriptEntry>): void {
    this.#script.push(...entries)
  }

  /** The chat with this index, as soon as it has come in. */
  received(index: number): Promise<ScriptedRequest> {
    return signalAt(this.#arrivals, index).promise
  }

  /** The request of any kind with this index, as soon as it has come in. */
  exchange(index: number): Promise<ScriptedExchange> {
    return signalAt(this.#exchanged, index).promise
  }

  /** Settles when the reply to this chat has come to its first pause or hang. */
  async waiting(index: number): Promise<void> {
    return signalAt(this.#waits, index).promise
  }

  /** Settles when the response to this chat is over: false where the client went away before its end. */
  async closed(index: number): Promise<boolean> {
    return (await this.received(index)).finished
  }

  /** Everything that is wrong by now: bad requests, chats beyond the script, entries that nobody asked for. */
  complaints(): ReadonlyArray<string> {
    const left = this.#script.length === 0 ? [] : [`${this.#script.length} entries of the script were not asked for`]
    return [...this.problems, ...left]
  }

  /** Ends every connection and stops listening. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, "close")
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined) // a client that went away is seen by "close"
    const finished = closeOf(response).then(() => response.writableFinished)
    const route = `${request.method} ${request.url}`
    const body = await bodyOf(request)
    this.exchanges.push({ route, finished })
    signalAt(this.#exchanged, this.exchanges.length - 1).resolve({ route, finished })
    if (route === "POST /api/chat") return this.#chat(request, response, body, finished)
    return play(this.#options.plain?.[route] ?? this.#plain(route, body), response, "", () => undefined)
  }

  #plain(route: string, body: unknown): Reply {
    switch (route) {
      case "GET /":
        return plain(200, "Ollama is running")
      case "GET /api/version":
        return json(200, { version: this.#options.version ?? "0.0.0" })
      case "GET /api/tags":
        return json(200, { models: this.models.map(tagBody) })
      case "GET /api/ps":
        return json(200, {
          models: this.models.flatMap((model) => {
            const numCtx = this.#running.get(model.name)
            return numCtx === undefined ? [] : [runningBody(model, numCtx)]
          })
        })
      case "POST /api/show": {
        const name = String((body as { readonly model?: unknown } | null)?.model ?? "")
        const model = this.#model(name)
        return model === undefined ? error(404, `model '${name}' not found`) : json(200, showBody(model))
      }
      default:
        return plain(404, "404 page not found")
    }
  }

  async #chat(
    incoming: IncomingMessage,
    response: ServerResponse,
    body: unknown,
    finished: Promise<boolean>
  ): Promise<void> {
    const index = this.requests.length
    const chat = (body ?? {}) as ScriptedChatBody
    const request: ScriptedRequest = { index, body: chat, headers: incoming.headers, finished }
    this.requests.push(request)
    signalAt(this.#arrivals, index).resolve(request)
    const waits = signalAt(this.#waits, index)
    await play(await this.#reply(request, body), response, chat.model, waits.resolve)
  }

  async #reply(request: ScriptedRequest, body: unknown): Promise<Reply> {
    const problems = this.#options.strict === false ? [] : chatProblems(body)
    this.problems.push(...problems.map((problem) => `chat ${request.index}: ${problem}`))
    const refused = argumentsRefusal(body)
    if (refused !== null) return error(400, refused)
    if (problems.length > 0) return error(400, `scripted: ${problems.join("; ")}`)
    const model = this.#model(request.body.model)
    const refusal = refusalOf(model, request.body)
    if (refusal !== null || model === undefined) return error(refusal?.status ?? 404, refusal?.message ?? "")
    this.#running.set(model.name, Number(request.body.options?.num_ctx ?? 4096))
    const entry = this.#script.shift() ?? this.#options.otherwise
    if (entry === undefined) {
      this.problems.push(`chat ${request.index} is beyond the script`)
      return error(400, `scripted: chat ${request.index} is beyond the script`)
    }
    return typeof entry === "function" ? entry(request) : entry
  }

  #model(name: string): ScriptedModel | undefined {
    return this.models.find((model) => sameModel(model.name, name))
  }
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks).toString("utf8")
  try {
    return raw === "" ? null : (JSON.parse(raw) as unknown)
  } catch {
    return null
  }
}

/** A promise with its handle: `Promise.withResolvers` is not there on Node 20. */
interface Signal<A> {
  readonly promise: Promise<A>
  readonly resolve: (value: A) => void
}

const signalAt = <A>(signals: Array<Signal<A>>, index: number): Signal<A> => {
  while (signals.length <= index) {
    let resolve: (value: A) => void = () => undefined
    const promise = new Promise<A>((settle) => {
      resolve = settle
    })
    signals.push({ promise, resolve })
  }
  return signals[index]!
}
