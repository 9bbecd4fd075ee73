import { randomUUID } from "node:crypto"
import { Effect, Layer, Option } from "effect"
import type { ImageRef } from "../../src/domain/Image.ts"
import { type Message, UserMessage } from "../../src/domain/Message.ts"
import { SessionId } from "../../src/domain/Session.ts"
import type { TaskSettings } from "../../src/domain/Settings.ts"
import { type RunnableTask, Task, TaskId } from "../../src/domain/Task.ts"
import { SessionRepo, type StoredMessage } from "../../src/store/SessionRepo.ts"
import { type TaskProgress, TaskRepo } from "../../src/store/TaskRepo.ts"

/** What the agent reads and writes of the store, in memory, with everything that was recorded in order. */
export class MemoryRepos {
  readonly records: Array<TaskProgress> = []
  readonly history: Array<StoredMessage> = []
  readonly images = new Map<string, Uint8Array>()
  readonly sessionId = SessionId.make(randomUUID())
  /** How often the whole history was read. */
  reads = 0

  /** Stores the request of a new task, as an accept does. */
  accept(request: string, settings: TaskSettings, images: ReadonlyArray<ImageRef> = []): RunnableTask {
    const id = TaskId.make(randomUUID())
    this.append(id, new UserMessage({ content: request, images }))
    return { id, sessionId: this.sessionId, request, temperature: null, settings, uncleanEnds: 0, startedAt: 0 }
  }

  append(taskId: TaskId, ...messages: ReadonlyArray<Message>): void {
    for (const message of messages) this.history.push({ seq: this.history.length + 1, taskId, message })
  }

  messagesOf(id: TaskId): ReadonlyArray<Message> {
    return this.history.filter(({ taskId }) => taskId === id).map(({ message }) => message)
  }

  get usage() {
    return this.records.reduce(
      (sum, { usage }) => ({ input: sum.input + (usage?.input ?? 0), output: sum.output + (usage?.output ?? 0) }),
      { input: 0, output: 0 }
    )
  }

  get events() {
    return this.records.flatMap(({ events = [] }) => events)
  }

  readonly layer = Layer.merge(
    Layer.mock(TaskRepo, {
      get: (id) => Effect.sync(() => Option.some(this.#task(id))),
      record: (id, progress) =>
        Effect.sync(() => {
          this.records.push(progress)
          this.append(id, ...(progress.messages ?? []))
        })
    }),
    Layer.succeed(SessionRepo, {
      history: () =>
        Effect.sync(() => {
          this.reads++
          return [...this.history]
        }),
      images: (hashes) =>
        Effect.sync(
          () =>
            new Map(
              hashes.flatMap((hash) => {
                const data = this.images.get(hash)
                return data === undefined ? [] : [[hash, data] as const]
              })
            )
        )
    })
  )

  #task(id: TaskId): Task {
    const last = <K extends keyof TaskProgress>(key: K) =>
      this.records.findLast((each) => each[key] !== undefined)?.[key]
    return new Task({
      id,
      seq: 1,
      sessionId: this.sessionId,
      owner: null,
      status: last("status") ?? "planning",
      cancelRequested: false,
      completedSteps: last("steps")?.completed ?? 0,
      plannedSteps: last("steps")?.planned ?? 1,
      currentTask: last("currentTask") ?? "",
      usage: this.usage,
      criticalPathTokens: 0,
      result: "",
      createdAt: 0,
      updatedAt: 0,
      endedAt: null
    })
  }
}
