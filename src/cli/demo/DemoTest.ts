import { Effect } from "effect"
import { runChild } from "../../tools/ChildProcess.ts"
import { pathFolders } from "../../tools/Programs.ts"
import { Sandbox } from "../../tools/Sandbox.ts"
import { CommandFailed } from "../Failures.ts"
import type { DemoProject } from "./DemoProject.ts"

export const testCommand = "node test.js"

/** Runs the project's test: in the sandbox where a model wrote the code, as the model's own commands are. */
export const runTest = Effect.fn("Demo.test")(
  function* ({ project }: DemoProject, sandboxed: boolean) {
    const confinement = sandboxed ? yield* (yield* Sandbox).confine({ root: project, hidden: [] }, false) : undefined
    let output = ""
    const keep = (chunk: Buffer) => {
      output += chunk.toString("utf8")
    }
    const end = yield* runChild({
      argv: ["/bin/sh", "-c", 'exec "$@"', "sh", ...(confinement?.argv ?? []), ...testCommand.split(" ")],
      cwd: project,
      env: { PATH: pathFolders().join(":") },
      timeoutMillis: 20_000,
      graceMillis: 100,
      marker: null,
      onStdout: keep,
      onStderr: keep
    })
    return { green: end.exitCode === 0, output: output.trimEnd() }
  },
  Effect.catchTag("ToolFailed", ({ message }) => new CommandFailed({ message }))
)
