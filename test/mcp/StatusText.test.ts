import { assert, describe, it } from "@effect/vitest"
import { SessionId } from "../../src/domain/Session.ts"
import { Task, TaskId } from "../../src/domain/Task.ts"
import { acceptedText, notFoundText, oneLine, statusMessage, statusText } from "../../src/mcp/StatusText.ts"

const task = (change: Partial<Task> = {}) =>
  new Task({
    id: TaskId.make("9ab4a40b-86fe-432a-904f-8e429c01ea8b"),
    seq: 1,
    sessionId: SessionId.make("2a8105cc-84f9-4d37-a5bd-e48e04654eb7"),
    owner: null,
    status: "queued",
    cancelRequested: false,
    completedSteps: 0,
    plannedSteps: 1,
    currentTask: "",
    usage: { input: 0, output: 0 },
    criticalPathTokens: 0,
    result: "",
    createdAt: 0,
    updatedAt: 0,
    endedAt: null,
    ...change
  })

describe("StatusText", () => {
  it("an accepted task is four lines without one at the end", () => {
    assert.strictEqual(
      acceptedText(task(), "ja"),
      `task_id: 9ab4a40b-86fe-432a-904f-8e429c01ea8b
session_id: 2a8105cc-84f9-4d37-a5bd-e48e04654eb7
status: queued
message: タスク 9ab4a40b-86fe-432a-904f-8e429c01ea8b をセッション 2a8105cc-84f9-4d37-a5bd-e48e04654eb7 に登録しました。`
    )
    assert.strictEqual(
      acceptedText(task(), "en").split("\n").at(-1),
      "message: Task 9ab4a40b-86fe-432a-904f-8e429c01ea8b was registered in session 2a8105cc-84f9-4d37-a5bd-e48e04654eb7."
    )
  })

  it("a running task shows what is happening now, and a result that is empty has no space", () => {
    const running = task({ status: "running", currentTask: "ollama chat", usage: { input: 1536, output: 284 } })
    assert.strictEqual(
      statusText(running, "ja"),
      `task_id: 9ab4a40b-86fe-432a-904f-8e429c01ea8b
session_id: 2a8105cc-84f9-4d37-a5bd-e48e04654eb7
status: running
completed_tasks: 0/1
current_task: ollama chat
token_usage: input=1536 output=284 total=1820
critical_path_tokens: 0
message: タスクを実行しています。
result:`
    )
  })

  it("a completed task ends with its result, verbatim over its lines", () => {
    const done = task({
      status: "completed",
      completedSteps: 1,
      usage: { input: 2048, output: 512 },
      result: "修正と\n\tテスト\u0007が完了しました。 "
    })
    assert.strictEqual(
      statusText(done, "ja"),
      `task_id: 9ab4a40b-86fe-432a-904f-8e429c01ea8b
session_id: 2a8105cc-84f9-4d37-a5bd-e48e04654eb7
status: completed
completed_tasks: 1/1
current_task:
token_usage: input=2048 output=512 total=2560
critical_path_tokens: 0
message: タスクが完了しました。
result: 修正と\n\tテスト\u0007が完了しました。 `
    )
  })

  it("each state has its sentence in both languages", () => {
    const sentences = (["ja", "en"] as const).map((locale) => [
      ...(["queued", "planning", "running", "completed", "failed", "cancelled"] as const).map((status) =>
        statusMessage(task({ status }), locale)
      ),
      statusMessage(task({ status: "running", cancelRequested: true }), locale)
    ])
    assert.deepStrictEqual(sentences, [
      [
        "タスクは実行待ちです。",
        "タスクを計画しています。",
        "タスクを実行しています。",
        "タスクが完了しました。",
        "タスクが失敗しました。",
        "タスクは取り消されました。",
        "タスクを取り消しています。"
      ],
      [
        "The task is waiting for its turn.",
        "The task is being planned.",
        "The task is running.",
        "The task has completed.",
        "The task has failed.",
        "The task was cancelled.",
        "The task is being cancelled."
      ]
    ])
  })

  it("a cancel that came too late is not shown as one", () => {
    const late = task({ status: "completed", cancelRequested: true })
    assert.include(statusText(late, "en"), "message: The task has completed.")
  })

  it("an unknown id is named in lower case", () => {
    assert.strictEqual(
      notFoundText("ABCDEF00-0000-0000-0000-000000000000", "ja"),
      `task_id: abcdef00-0000-0000-0000-000000000000
status: failed
message: タスク abcdef00-0000-0000-0000-000000000000 が見つかりません。`
    )
  })

  it("a field is one line of at most 120 characters, and never half a character", () => {
    assert.strictEqual(oneLine("shell a\nb\r\u2028c\u0085d\u0000"), "shell a b  c d ")
    assert.strictEqual(oneLine("x".repeat(200)), "x".repeat(120))
    assert.strictEqual(oneLine("😀".repeat(200)), "😀".repeat(120))
    assert.strictEqual(oneLine(" \n\t"), "")
    assert.include(statusText(task({ currentTask: "\n" }), "ja"), "\ncurrent_task:\n")
  })

  it("the status message is the current task where there is one", () => {
    assert.strictEqual(
      statusMessage(task({ status: "running", currentTask: "shell npm\ntest" }), "ja"),
      "shell npm test"
    )
  })
})
