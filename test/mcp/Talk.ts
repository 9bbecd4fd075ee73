import type { Readable, Writable } from "node:stream"
import { Effect, Queue } from "effect"
import type { Json } from "./Messages.ts"

/** What a server wrote: one line, parsed. */
export interface Reply {
  readonly id?: string | number
  readonly method?: string
  readonly params: Json
  readonly result: { readonly content: ReadonlyArray<{ readonly text: string }>; readonly isError?: boolean } & Json
  readonly error: { readonly code: number; readonly message: string; readonly data?: Json }
}

export interface Talk {
  /** A string goes as it is, with a line break behind it. */
  readonly send: (...lines: ReadonlyArray<string | Buffer | object>) => Effect.Effect<void>
  /** The next line that the server writes. */
  readonly next: Effect.Effect<Reply>
  /** Drops lines until one fits. */
  readonly until: (fits: (reply: Reply) => boolean) => Effect.Effect<Reply>
  /** Sends, and gives the reply with the same id; what comes before it is dropped. */
  readonly ask: (request: { readonly id: string | number }) => Effect.Effect<Reply>
  /** The lines that are there and that nobody has taken. */
  readonly rest: Effect.Effect<ReadonlyArray<Reply>>
}

/** Talks lines of JSON; a line that is none fails the test. */
export const talkOver = (input: Writable, output: Readable): Effect.Effect<Talk> =>
  Effect.gen(function* () {
    const lines = yield* Queue.unbounded<string>()
    let text = ""
    output.setEncoding("utf8").on("data", (chunk: string) => {
      const parts = (text + chunk).split("\n")
      text = parts.pop() ?? ""
      for (const part of parts) lines.unsafeOffer(part)
    })
    const send: Talk["send"] = (...messages) =>
      Effect.sync(() => {
        for (const message of messages) {
          if (Buffer.isBuffer(message)) input.write(message)
          else input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`)
        }
      })
    const next = Effect.map(Queue.take(lines), (line): Reply => JSON.parse(line))
    const until: Talk["until"] = (fits) =>
      next.pipe(Effect.repeat({ until: fits }), Effect.timeout("20 seconds"), Effect.orDie)
    return {
      send,
      next,
      until,
      ask: (request) =>
        Effect.zipRight(
          send(request),
          until((reply) => reply.id === request.id)
        ),
      rest: Effect.map(Queue.takeAll(lines), (all) => [...all].map((line): Reply => JSON.parse(line)))
    }
  })
