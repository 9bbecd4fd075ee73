import { Effect, Option, Schema } from "effect"
import type { ValidImage } from "../domain/Image.ts"
import { type Problem, RequestRefused } from "../domain/Problem.ts"
import { SessionId } from "../domain/Session.ts"
import type { NewTask, QueueFull, SessionElsewhere, SessionUnknown } from "../store/TaskIntake.ts"
import type { ImageInput, TaskRequest } from "./Tasks.ts"

/** All problems of a request at once, those of its images among them. Lone surrogates become U+FFFD here. */
export const checkRequest = (
  request: TaskRequest,
  validate: (images: ReadonlyArray<ImageInput>) => Effect.Effect<ReadonlyArray<ValidImage>, RequestRefused>
): Effect.Effect<Pick<NewTask, "request" | "sessionId" | "temperature" | "images">, RequestRefused> =>
  Effect.gen(function* () {
    const images = yield* Effect.either(validate(request.images))
    const sessionId = request.sessionId === null ? Option.some(null) : decodeSessionId(request.sessionId.toLowerCase())
    const problems = [
      ...(request.problems ?? []),
      ...(request.request.trim() === "" ? [blank] : []),
      ...(Option.isNone(sessionId) ? [badSessionId] : []),
      ...(request.temperature !== null && !inRange(request.temperature) ? [temperature] : []),
      ...(images._tag === "Left" ? images.left.problems : [])
    ]
    const [first, ...others] = problems
    if (first !== undefined) return yield* new RequestRefused({ problems: [first, ...others] })
    return {
      request: toWellFormed(request.request),
      sessionId: Option.getOrNull(sessionId),
      temperature: request.temperature,
      images: images._tag === "Right" ? images.right : []
    }
  })

const decodeSessionId = Schema.decodeOption(SessionId)
const inRange = (temperature: number) => temperature >= 0 && temperature <= 2 // false for NaN
// Node 20 has it, its library types do not
const toWellFormed = (text: string) => (text as string & { toWellFormed(): string }).toWellFormed()

const blank: Problem = {
  field: "request",
  text: {
    ja: "空です。空白以外の文字を含む依頼文を指定してください。",
    en: "is empty. Give a request with at least one character that is not white space."
  }
}
const badSessionId: Problem = {
  field: "session_id",
  text: {
    ja: "UUID ではありません。既存のセッションの UUID を指定するか、省略してください。",
    en: "is not a UUID. Give the UUID of an existing session, or leave it out."
  }
}
const temperature: Problem = {
  field: "temperature",
  text: {
    ja: "範囲外です。0.0 以上 2.0 以下の数を指定するか、省略してください。",
    en: "is out of range. Give a number from 0.0 through 2.0, or leave it out."
  }
}

const refuse = (field: string, text: Problem["text"]) => new RequestRefused({ problems: [{ field, text }] })

/** Refusals that only the store can decide. */
export const refusalOf = {
  sessionUnknown: (error: SessionUnknown) =>
    refuse("session_id", {
      ja: `セッション ${error.sessionId} はありません。既存のセッションの UUID を指定するか、省略して新しく作ってください。`,
      en: `There is no session ${error.sessionId}. Give the UUID of an existing session, or leave it out to create one.`
    }),
  sessionElsewhere: (error: SessionElsewhere) =>
    refuse("session_id", {
      ja: `このセッションは別のワークスペース ${error.workspace} のものです。そのワークスペースから続けるか、session_id を省略してください。`,
      en: `This session belongs to another workspace, ${error.workspace}. Continue it from there, or leave session_id out.`
    }),
  queueFull: (error: QueueFull) =>
    refuse("request", {
      ja: `待ち行列がいっぱいです（${error.maxQueued} 件）。タスクが終わるのを待つか、mcp.tasks.max_queued を増やしてください。`,
      en: `The queue is full (${error.maxQueued} tasks). Wait for a task to end, or raise mcp.tasks.max_queued.`
    })
}
