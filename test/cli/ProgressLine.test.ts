import { assert, describe, it } from "@effect/vitest"
import { displayWidth, fitted } from "../../src/cli/DisplayWidth.ts"
import { elapsed, type ProgressView, progressLine, timedLine } from "../../src/cli/ProgressLine.ts"
import type { Task } from "../../src/domain/Task.ts"

const view = (task: Partial<Task>, more: Partial<ProgressView> = {}): ProgressView => ({
  task: {
    status: "running",
    cancelRequested: false,
    completedSteps: 0,
    plannedSteps: 1,
    currentTask: "",
    usage: { input: 0, output: 0 },
    ...task
  } as Task,
  ahead: null,
  elsewhere: false,
  seconds: 7,
  ...more
})

describe("the width of a text on a terminal", () => {
  it("counts Japanese characters and emoji twice, marks that join not at all", () => {
    assert.strictEqual(displayWidth("abc"), 3)
    assert.strictEqual(displayWidth("作業abcｱ"), 8)
    assert.strictEqual(displayWidth("。「」（）"), 10)
    assert.strictEqual(displayWidth("e\u0301🙂"), 3)
    assert.strictEqual(displayWidth("か\u3099𠮷"), 4)
  })

  it("cuts a text so that it fits, and never inside a character", () => {
    assert.strictEqual(fitted("作業", 4), "作業")
    assert.strictEqual(fitted("作業の途中", 7), "作業…")
    assert.strictEqual(fitted("abc def", 6), "abc…")
    assert.strictEqual(fitted("🙂🙂🙂", 5), "🙂…")
    assert.strictEqual(fitted("作業", 2), "")
    for (let columns = 0; columns < 20; columns++) {
      assert.isAtMost(displayWidth(fitted("タスク a を計画しています", columns)), columns)
    }
  })
})

describe("the line of a task that somebody waits for", () => {
  it("has the state, the steps, what is being done, the tokens and the time", () => {
    const running = view({ currentTask: "read_file src/a.ts", usage: { input: 1536, output: 284 } })
    assert.strictEqual(timedLine(running, "en"), "The task is running.  0/1  read_file src/a.ts  1,820 tokens  0:07")
    assert.strictEqual(
      timedLine(running, "ja"),
      "タスクを実行しています。  0/1  read_file src/a.ts  1,820 トークン  0:07"
    )
  })

  it("says what a queued task waits for", () => {
    const queued = (more: Partial<ProgressView>) => progressLine(view({ status: "queued" }, more), "en")
    assert.strictEqual(queued({ ahead: 0 }), "The task is waiting for its turn.")
    assert.strictEqual(queued({ ahead: 1 }), "The task is waiting for its turn.  1 task before it")
    assert.strictEqual(queued({ ahead: 2, elsewhere: true }), "The task is waiting for its turn.  2 tasks before it")
    assert.strictEqual(
      queued({ ahead: 0, elsewhere: true }),
      "The task is waiting for its turn.  another process runs the tasks"
    )
  })

  it("says that a task is being cancelled, until it is over", () => {
    assert.match(progressLine(view({ cancelRequested: true }), "en"), /^The task is being cancelled\./)
    assert.strictEqual(
      progressLine(view({ status: "completed", completedSteps: 1 }), "en"),
      "The task has completed.  1/1"
    )
  })

  it("cuts what is being done before anything else, and never is wider than the terminal", () => {
    const long = view({ currentTask: `shell ${"とても長い".repeat(20)}`, usage: { input: 10, output: 5 } })
    assert.match(timedLine(long, "en", 60), /^The task is running\. {2}0\/1 {2}shell と.*… {2}15 tokens {2}0:07$/)
    for (let columns = 0; columns < 100; columns++) {
      for (const locale of ["ja", "en"] as const) {
        assert.isAtMost(displayWidth(timedLine(long, locale, columns)), columns)
      }
    }
  })

  it("lets no control character through", () => {
    assert.notMatch(progressLine(view({ currentTask: "read_file a\u001b[31m\nb" }), "en"), /\p{Cc}/u)
  })

  it("counts minutes and hours", () => {
    assert.deepStrictEqual([0, 59, 60, 3599, 3600, 36_000].map(elapsed), [
      "0:00",
      "0:59",
      "1:00",
      "59:59",
      "1:00:00",
      "10:00:00"
    ])
  })
})
