import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { AuditLog } from "../../src/audit/AuditLog.ts"
import type { Caller } from "../../src/domain/Caller.ts"
import { ImageRef } from "../../src/domain/Image.ts"
import { AssistantMessage } from "../../src/domain/Message.ts"
import { SessionId } from "../../src/domain/Session.ts"
import { RunnerRepo } from "../../src/store/RunnerRepo.ts"
import { SessionRepo } from "../../src/store/SessionRepo.ts"
import { Sql } from "../../src/store/Sql.ts"
import { type NewTask, TaskIntake } from "../../src/store/TaskIntake.ts"
import { TaskRepo } from "../../src/store/TaskRepo.ts"
import { temporaryFolder, testSettings } from "../support/TestSettings.ts"
import { testStore } from "../support/TestStore.ts"

const owner: Caller = { token: null, via: "stdio" }
const settings = testSettings()
const newTask = (request: string, overrides: Partial<NewTask> = {}): NewTask => ({
  request,
  sessionId: null,
  temperature: null,
  images: [],
  settings: settings.task,
  caller: owner,
  maxQueued: 1000,
  ...overrides
})
const inStore = <A, E>(body: Effect.Effect<A, E, TaskIntake | TaskRepo | RunnerRepo | SessionRepo | AuditLog | Sql>) =>
  Effect.provide(body, testStore(testSettings()))
const accept = (task: NewTask) => Effect.flatMap(TaskIntake, (intake) => intake.accept(task))

const image = (bytes: string) => {
  const data = Buffer.from(bytes)
  const hash = createHash("sha256").update(data).digest("hex")
  return { ref: new ImageRef({ hash, mimeType: "image/png", bytes: data.length, width: 1, height: 1 }), data }
}

describe("TaskIntake", () => {
  it.effect("a task is a row, a message and an audit row in one commit", () =>
    inStore(
      Effect.gen(function* () {
        const task = yield* accept(newTask("do it", { temperature: 0.5 }))
        assert.strictEqual(task.status, "queued")
        const stored = yield* (yield* TaskRepo).get(task.id)
        assert.deepStrictEqual(Option.getOrThrow(stored), task)
        const history = yield* (yield* SessionRepo).history(task.sessionId)
        assert.deepStrictEqual(
          history.map(({ message }) => message.content),
          ["do it"]
        )
        const [row] = yield* (yield* AuditLog).rows(0, 10)
        const entry = JSON.parse(row!.body)
        assert.deepStrictEqual([entry.event, entry.task, entry.caller], ["accepted", task.id, "owner via stdio"])
        assert.strictEqual(entry.detail.requestSha256, createHash("sha256").update("do it").digest("hex"))
        assert.notInclude(row!.body, "do it")
      })
    )
  )

  it.effect("many that come together get places in one order, each its own row", () =>
    inStore(
      Effect.gen(function* () {
        const requests = Array.from({ length: 50 }, (_, index) => `request ${index}`)
        const tasks = yield* Effect.forEach(requests, (request) => accept(newTask(request)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(tasks.map((task) => task.id)).size, 50)
        assert.deepStrictEqual(
          tasks.map((task) => task.seq),
          requests.map((_, index) => index + 1)
        )
      })
    )
  )

  it.effect("refusals that only the store can decide leave nothing behind", () =>
    inStore(
      Effect.gen(function* () {
        const session = (yield* accept(newTask("first"))).sessionId
        const unknown = SessionId.make("00000000-0000-4000-8000-000000000000")
        const elsewhere = { ...settings.task, workspace: temporaryFolder() }
        const stranger: Caller = { token: "ci", via: "http" }
        const tags = yield* Effect.forEach(
          [
            newTask("x", { sessionId: unknown }),
            newTask("x", { sessionId: session, settings: elsewhere }),
            newTask("x", { sessionId: session, caller: stranger }),
            newTask("x", { maxQueued: 1 })
          ],
          (task) => Effect.map(Effect.flip(accept(task)), (error) => error._tag)
        )
        assert.deepStrictEqual(tags, ["SessionUnknown", "SessionElsewhere", "SessionUnknown", "QueueFull"])
        const { sql } = yield* Sql
        const [counts] = yield* sql`SELECT (SELECT count(*) FROM tasks) t, (SELECT count(*) FROM sessions) s,
          (SELECT count(*) FROM messages) m, (SELECT count(*) FROM audit) a`
        assert.deepStrictEqual(counts, { t: 1, s: 1, m: 1, a: 1 })
      })
    )
  )

  // E14
  it.effect("text comes back as it was given", () =>
    inStore(
      Effect.gen(function* () {
        const request = "a\u0000b \ufffd c \u2028 \u202e d 😀"
        const task = yield* accept(newTask(request))
        const [stored] = yield* (yield* SessionRepo).history(task.sessionId)
        assert.strictEqual(stored!.message.content, request)
        const taken = Option.getOrThrow(yield* (yield* RunnerRepo).take)
        assert.strictEqual(taken.request, request)
      })
    )
  )

  it.effect("equal images are stored once, and those of a failed task are not sent again", () =>
    inStore(
      Effect.gen(function* () {
        const sessions = yield* SessionRepo
        const repo = yield* RunnerRepo
        const [a, b] = [image("one"), image("two")]
        const task = yield* accept(newTask("look", { images: [a, b, a] }))
        const bytes = yield* sessions.images([a.ref.hash, b.ref.hash])
        assert.deepStrictEqual([...bytes.values()].map(String).sort(), ["one", "two"])
        yield* repo.take
        const closing = [new AssistantMessage({ content: "[failed]", thinking: "", toolCalls: [] })]
        const end = { status: "failed", result: "no vision", closing } as const
        yield* repo.finish(task.id, end, end)
        const history = yield* sessions.history(task.sessionId)
        assert.deepStrictEqual(
          history.map(({ message }) => (message._tag === "user" ? message.images.length : message.content)),
          [0, "[failed]"]
        )
      })
    )
  )
})
