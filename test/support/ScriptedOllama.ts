import { Effect, Exit, type Scope } from "effect"
import { type ScriptEntry, ScriptedOllama, type ScriptedOllamaOptions } from "../../src/ollama/ScriptedOllama.ts"

export { ScriptedOllama } from "../../src/ollama/ScriptedOllama.ts"
export * from "../../src/ollama/ScriptedReply.ts"

/**
 * A scripted server for the life of the scope. Where the test itself passed, its end fails it
 * if the server was asked wrongly, too often or not often enough.
 */
export const scriptedOllama = (
  script: ReadonlyArray<ScriptEntry>,
  options?: ScriptedOllamaOptions
): Effect.Effect<ScriptedOllama, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => ScriptedOllama.start(script, options)),
    (server, exit) =>
      Effect.andThen(
        Effect.promise(() => server.stop()),
        Exit.isSuccess(exit) ? assertDone(server) : Effect.void
      )
  )

/** Dies with what was wrong with what the server was asked, or with what nobody asked for. */
export const assertDone = (server: ScriptedOllama): Effect.Effect<void> =>
  Effect.suspend(() => {
    const complaints = server.complaints()
    return complaints.length === 0 ? Effect.void : Effect.die(new Error(`ScriptedOllama: ${complaints.join("\n")}`))
  })
