import { Context, Effect, FiberSet, Option } from "effect"
import type { Caller } from "../../src/domain/Caller.ts"
import { isTerminal } from "../../src/domain/Task.ts"
import { ToolNotFound } from "../../src/mcp/Refusals.ts"
import type { ToolAnswer, ToolDefinition, ToolSet } from "../../src/mcp/Tools.ts"
import { Tasks } from "../../src/task/Tasks.ts"
import type { TasksFake } from "../support/TasksFake.ts"
import { schema2020 } from "./Schema2020.ts"

/** Where the work of the fixture's tasks runs, so that it ends with the server. */
export class FixtureWork extends Context.Tag("test/FixtureWork")<FixtureWork, FiberSet.FiberSet<void>>() {}

type Arguments = Readonly<Record<string, unknown>>

type Fixture = (input: Arguments, caller: Caller) => Effect.Effect<ToolAnswer, never, Tasks>

const says =
  (text: (input: Arguments) => string, isError = false): Fixture =>
  (input) =>
    Effect.succeed({ _tag: "Text", text: text(input), isError })

/** The tools of this kind that the suite asks for, by the names that it gives them. */
export const fixtureTools = (fake: Context.Tag.Service<TasksFake>, work: FiberSet.FiberSet<void>): ToolSet => {
  /** A task that ends after some seconds, unless it was cancelled before. */
  const works =
    (seconds: (input: Arguments) => number, status: "completed" | "failed", result: string): Fixture =>
    (input, caller) =>
      Effect.gen(function* () {
        const tasks = yield* Tasks
        const request = { request: "work", sessionId: null, temperature: null, images: [], caller }
        const task = yield* Effect.orDie(tasks.submit(request))
        const end = Effect.gen(function* () {
          yield* Effect.sleep(`${seconds(input)} seconds`)
          const now = yield* Effect.orDie(tasks.get(task.id, caller))
          if (Option.isSome(now) && !isTerminal(now.value.status)) yield* fake.finish(task.id, status, result)
        })
        yield* FiberSet.run(work, end)
        return { _tag: "Accepted", task } satisfies ToolAnswer
      })
  const fixtures: Readonly<Record<string, Fixture>> = {
    greet: says(({ name }) => `Hello, ${name}!`),
    slow_compute: works(({ seconds }) => Number(seconds ?? 0), "completed", "computed"),
    // Nobody can be asked here, and so it ends at once; that its tasks are answered like others' is still seen.
    confirm_delete: works(() => 0, "completed", "not deleted: nobody can be asked"),
    failing_job: works(() => 1, "failed", "this tool fails"),
    test_simple_text: says(() => "This is a simple text response for testing."),
    test_error_handling: says(() => "This tool intentionally returns an error for testing", true),
    json_schema_2020_12_tool: says(() => "seen")
  }
  return {
    definitions: Object.keys(fixtures).map(definition),
    call: (name, input, caller) => {
      const fixture = Object.hasOwn(fixtures, name) ? fixtures[name] : undefined
      return fixture === undefined ? new ToolNotFound({ name }) : fixture((input ?? {}) as Arguments, caller)
    }
  }
}

const definition = (name: string): ToolDefinition => ({
  name,
  description: `The suite's fixture ${name}.`,
  inputSchema: name === "json_schema_2020_12_tool" ? schema2020 : { type: "object" },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false }
})
