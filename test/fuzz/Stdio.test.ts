import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, type Scope } from "effect"
import fc from "fast-check"
import { serve } from "../../src/mcp/Stdio.ts"
import { legacy, modern } from "../mcp/Messages.ts"
import { settingsLayer } from "../mcp/TestSettings.ts"
import { TasksFake } from "../support/TasksFake.ts"
import { temporaryFolder } from "../support/TestSettings.ts"
import { bytes, cuts, inPieces, message } from "./Inputs.ts"
import { forgetTasks, holds, propertyTimeout } from "./Runs.ts"
import { answerableId, faultOf, isSpecial } from "./WellFormed.ts"

const layer = Layer.merge(TasksFake.layer, settingsLayer())

/** Ends of a socket each: a server's and a client's. */
const socketPairs: Effect.Effect<Effect.Effect<readonly [Socket, Socket]>, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer({ allowHalfOpen: true })
    const path = join(temporaryFolder("sagyo-fuzz-"), "pipe")
    server.listen(path)
    await once(server, "listening")
    return { server, path }
  }),
  ({ server }) => Effect.sync(() => server.close())
).pipe(
  Effect.map(({ server, path }) =>
    Effect.promise(async () => {
      const accepted = once(server, "connection")
      const client = connect({ path, allowHalfOpen: true })
      const [ours] = (await accepted) as [Socket]
      return [ours, client] as const
    })
  )
)

/** Sends pieces to a server of their own, ends the input, and gives every line that came back by its end. */
const talk = (pair: Effect.Effect<readonly [Socket, Socket]>, pieces: ReadonlyArray<Buffer>) =>
  Effect.gen(function* () {
    const [ours, client] = yield* pair
    const ended = yield* Deferred.make<string>()
    let said = ""
    client.setEncoding("utf8").on("data", (text: string) => {
      said += text
    })
    client.on("end", () =>
      Deferred.unsafeDone(
        ended,
        Effect.sync(() => said)
      )
    )
    const server = yield* Effect.fork(serve(ours, ours))
    for (const piece of pieces)
      yield* Effect.async<void>((resume) => void client.write(piece, () => resume(Effect.void)))
    client.end()
    yield* Fiber.join(server)
    ours.end()
    const lines = (yield* Deferred.await(ended)).split("\n")
    assert.strictEqual(lines.pop(), "", "the last line is whole")
    ours.destroy()
    client.destroy()
    return lines.map((line) => JSON.parse(line) as unknown)
  })

const sentinels = [modern("sentinel-modern", "tools/list"), legacy("sentinel-legacy", "tools/list")]
const lastLines = Buffer.from(sentinels.map((request) => `\n${JSON.stringify(request)}\n`).join(""))

const assertAnswered = (replies: ReadonlyArray<unknown>, input: string) => {
  for (const reply of replies) assert.isUndefined(faultOf(reply), `${JSON.stringify(reply)} after ${input}`)
  for (const { id } of sentinels) {
    const answers = replies.filter((reply) => (reply as { readonly id?: unknown }).id === id)
    assert.lengthOf(answers, 1, `${id} after ${input}`)
    assert.property(answers[0], "result")
  }
}

const countById = (ids: ReadonlyArray<unknown>) => {
  const counts = new Map<unknown, number>()
  for (const id of ids) if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

describe("stdio under arbitrary input", () => {
  it.scopedLive(
    "each message is answered once, under its own id, and the next good request works",
    () =>
      Effect.gen(function* () {
        const pair = yield* socketPairs
        yield* holds(fc.tuple(fc.array(message, { maxLength: 6 }), cuts), ([messages, at]) =>
          Effect.gen(function* () {
            const text = `${messages.join("\n")}`
            yield* forgetTasks
            const replies = yield* talk(pair, inPieces(Buffer.concat([Buffer.from(text), lastLines]), at))
            assertAnswered(replies, text)
            const sent = messages.map((json): unknown => (json === "" ? undefined : JSON.parse(json)))
            const asked = countById([...sent.map(answerableId), ...sentinels.map(({ id }) => id)])
            const answered = countById(replies.map((reply) => (reply as { readonly id?: unknown }).id))
            for (const id of answered.keys()) assert.isTrue(asked.has(id), `${id} was not asked: ${text}`)
            if (sent.some(isSpecial)) return
            assert.deepStrictEqual([...answered].sort(), [...asked].sort(), text)
          })
        )
      }).pipe(Effect.provide(layer)),
    propertyTimeout
  )

  it.scopedLive(
    "whatever the bytes, every answer is well-formed, and the next good request works",
    () =>
      Effect.gen(function* () {
        const pair = yield* socketPairs
        yield* holds(fc.tuple(fc.array(bytes, { maxLength: 4 }), cuts), ([parts, at]) =>
          Effect.gen(function* () {
            const input = Buffer.concat([...parts.flatMap((part) => [part, Buffer.from("\n")]), lastLines])
            yield* forgetTasks
            const replies = yield* talk(pair, inPieces(input, at))
            assertAnswered(replies, input.toString("latin1"))
          })
        )
      }).pipe(Effect.provide(layer)),
    propertyTimeout
  )
})
