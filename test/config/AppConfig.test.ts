import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AppConfig } from "../../src/config/AppConfig.ts"
import { machine } from "./sandbox.ts"

describe("AppConfig.layer", () => {
  it.scoped("provides the settings of this process with the flags given", () =>
    Effect.gen(function* () {
      const file = join((yield* machine).root, "own.yaml")
      writeFileSync(file, "ollama: { base_url: 'example.com:1' }\nmcp: { http: { port: 1234 } }\n")
      const settings = yield* Effect.provide(AppConfig, AppConfig.layer({ config: file, port: 4321 }))
      assert.strictEqual(settings.file, file)
      assert.strictEqual(settings.mcp.http.port, 4321)
      assert.strictEqual(settings.task.ollama.baseUrl, "http://example.com:1")
    })
  )

  it.scoped("fails with every problem, one a line", () =>
    Effect.gen(function* () {
      const file = join((yield* machine).root, "own.yaml")
      writeFileSync(file, "locle: en\nmcp:\n  http:\n    port: -1\n")
      const error = yield* Effect.flip(Effect.provide(AppConfig, AppConfig.layer({ config: file })))
      assert.strictEqual(error._tag, "ConfigInvalid")
      assert.strictEqual(
        error.message,
        `${file}:1:1: locle: unknown key; did you mean "locale"?\n${file}:4:11: mcp.http.port: must be a whole number from 0 to 65535, not -1`
      )
    })
  )
})
