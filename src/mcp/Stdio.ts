import type { Readable, Writable } from "node:stream"
import { Deferred, type Duration, Effect, FiberSet, Runtime } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { Tasks } from "../task/Tasks.ts"
import { ErrorCode, errorReply } from "./JsonRpc.ts"
import { openServers, type Servers } from "./McpServer.ts"
import { messageLimit } from "./MessageLimit.ts"
import { StdioLines } from "./StdioLines.ts"
import { stdioRouter } from "./StdioRouter.ts"
import { makeStdioSubscriptions } from "./StdioSubscriptions.ts"
import { agentTools } from "./Tools.ts"

/** How long the end waits for answers that are being worked out, and then for the reader to take them. */
const lastAnswers = "5 seconds"
const lastBytes = "2 seconds"

/** With more than this waiting for the reader, nothing further is read from it. */
const writeAhead = 8 * 1024 * 1024

const caller: Caller = { token: null, via: "stdio" }

/**
 * Serves MCP on a pair of pipes until the input ends or the output breaks. Requests that came in before
 * are answered first, also when interrupted.
 */
export const serve = (input: Readable, output: Writable): Effect.Effect<void, never, Tasks | AppConfig> =>
  Effect.gen(function* () {
    const { mcp } = yield* AppConfig
    const ended = yield* Deferred.make<void>()
    const log = Runtime.runFork(yield* Effect.runtime())
    const run = yield* FiberSet.makeRuntimePromise<Tasks | AppConfig>()
    const write = (message: object) => {
      if (output.writable) output.write(`${JSON.stringify(message)}\n`)
      if (output.writableLength > writeAhead) input.pause()
    }
    const onerror = (error: Error) => {
      log(Effect.logDebug("MCP", error.message))
    }
    yield* Effect.addFinalizer(() => flushed(output))
    const servers = yield* openServers({ tools: agentTools, run, onerror })
    yield* Effect.addFinalizer(() => answered(servers))
    const subscriptions = yield* makeStdioSubscriptions(caller, write, roomIn(output))
    yield* Effect.addFinalizer(() => within(lastAnswers, subscriptions.end))
    const limit = messageLimit(mcp.images)
    const lines = new StdioLines(limit, stdioRouter({ servers, subscriptions, caller, write }), () =>
      write(errorReply(ErrorCode.invalidRequest, `Invalid request: a line may have ${limit} bytes`))
    )
    yield* listening(input, output, lines, () => Deferred.unsafeDone(ended, Effect.void))
    yield* Deferred.await(ended)
  }).pipe(Effect.scoped, Effect.withSpan("Stdio.serve"))

/** Serves this process's own stdin and stdout. */
export const run: Effect.Effect<void, never, Tasks | AppConfig> = Effect.suspend(() =>
  serve(process.stdin, process.stdout)
)

/** Reads for the life of the scope, and only as fast as the answers are taken. */
const listening = (input: Readable, output: Writable, lines: StdioLines, end: () => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const onData = (chunk: Buffer) => lines.push(chunk)
      const onEnd = () => {
        lines.end()
        end()
      }
      const onDrain = () => input.resume()
      input.on("data", onData).on("end", onEnd).on("close", end).on("error", end)
      output.on("drain", onDrain).on("error", end).on("close", end)
      if (input.readableEnded || input.destroyed || !output.writable) end()
      return () => {
        input.off("data", onData).off("end", onEnd).pause()
        output.off("drain", onDrain)
        // The listeners for errors stay: what breaks from here on is no news, and unheard it would end the process.
      }
    }),
    (stop) => Effect.sync(stop)
  )

/** Waits, for a while, until every request that was read has its answer. */
const answered = (servers: Servers) =>
  within(
    lastAnswers,
    Effect.forEach(Object.values(servers), (channel) =>
      Effect.async<void>((resume) => channel.whenIdle(() => resume(Effect.void)))
    )
  )

/** Waits, for a while, until the reader has taken what was written. */
const flushed = (output: Writable) =>
  within(
    lastBytes,
    Effect.async<void>((resume) => {
      if (output.writable) output.write("", () => resume(Effect.void))
      else resume(Effect.void)
    })
  )

/** Waits while what was written has not been taken. */
const roomIn = (output: Writable): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (!output.writable || !output.writableNeedDrain) return resume(Effect.void)
    const onDrain = () => resume(Effect.void)
    output.once("drain", onDrain)
    return Effect.sync(() => output.off("drain", onDrain))
  })

/** Finalizers cannot be interrupted, but what they wait for can. */
const within = (time: Duration.DurationInput, waiting: Effect.Effect<unknown>): Effect.Effect<void> =>
  waiting.pipe(Effect.interruptible, Effect.timeoutOption(time), Effect.asVoid)
