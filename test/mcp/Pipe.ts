import { PassThrough } from "node:stream"
import { Effect, type Fiber, type Scope } from "effect"
import type { AppConfig } from "../../src/config/AppConfig.ts"
import { serve } from "../../src/mcp/Stdio.ts"
import type { Tasks } from "../../src/task/Tasks.ts"
import { type Talk, talkOver } from "./Talk.ts"

export interface Pipe extends Talk {
  readonly input: PassThrough
  readonly output: PassThrough
  readonly server: Fiber.RuntimeFiber<void>
}

/** A server on a pair of pipes in this process. */
export const openPipe: Effect.Effect<Pipe, never, Tasks | AppConfig | Scope.Scope> = Effect.gen(function* () {
  const input = new PassThrough()
  const output = new PassThrough()
  const talk = yield* talkOver(input, output)
  const server = yield* Effect.forkScoped(serve(input, output))
  return { ...talk, input, output, server }
})
