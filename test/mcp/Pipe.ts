import { PassThrough } from "node:stream"
import { Effect, type Fiber, Queue, type Scope } from "effect"
import type { AppConfig } from "../../src/config/AppConfig.ts"
import { serve } from "../../src/mcp/Stdio.ts"
import type { Tasks } from "../../src/task/Tasks.ts"
import type { Json } from "./Messages.ts"

/** What a server wrote: one line, parsed. */
export interface Reply {
  readonly id?: string | number
  readonly method?: string
  readonly params: Json
  readonly result: { readonly content: ReadonlyArray<{ readonly text: string }>; readonly isError?: boolean } & Json
  readonly error: { readonly code: number; readonly message: string; readonly data?: Json }
}

export interface Pipe {
  readonly input: PassThrough
  readonly output: PassThrough
  /** A string goes as it is, with a line break behind it. */
  readonly send: (...lines: ReadonlyArray<string | Buffer | object>) => Effect.Effect<void>
  /** The next line that the server writes. */
  readonly next: Effect.Effect<Reply>
  /** Sends, and gives the reply with the same id; what comes before it is dropped. */
  readonly ask: (request: { readonly id: string | number }) => Effect.Effect<Reply>
  /** The lines that are there and that nobody has taken. */
  readonly rest: Effect.Effect<ReadonlyArray<Reply>>
  readonly server: Fiber.RuntimeFiber<void>
}

/** A server on a pair of pipes in this process. */
export const openPipe: Effect.Effect<Pipe, never, Tasks | AppConfig | Scope.Scope> = Effect.gen(function* () {
  const input = new PassThrough()
  const output = new PassThrough()
  const lines = yield* Queue.unbounded<Reply>()
  let text = ""
  output.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (text + chunk).split("\n")
    text = parts.pop() ?? ""
    for (const part of parts) lines.unsafeOffer(JSON.parse(part))
  })
  const server = yield* Effect.forkScoped(serve(input, output))
  const send: Pipe["send"] = (...messages) =>
    Effect.sync(() => {
      for (const message of messages) {
        if (Buffer.isBuffer(message)) input.write(message)
        else input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`)
      }
    })
  const next = Queue.take(lines)
  return {
    input,
    output,
    send,
    next,
    ask: (request) =>
      send(request).pipe(
        Effect.zipRight(next.pipe(Effect.repeat({ until: (reply) => reply.id === request.id }))),
        Effect.timeout("10 seconds"),
        Effect.orDie
      ),
    rest: Effect.map(Queue.takeAll(lines), (chunk) => [...chunk]),
    server
  }
})
