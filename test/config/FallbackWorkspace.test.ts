import { existsSync, statSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { makeFallbackWorkspace } from "../../src/config/FallbackWorkspace.ts"
import { machine } from "./sandbox.ts"

describe("makeFallbackWorkspace", () => {
  it.scoped("makes the workspace in the data folder, for its owner alone, once it is needed", () =>
    Effect.gen(function* () {
      const { load } = yield* machine
      const { task, dataDir } = Either.getOrThrow(yield* load({}, { cwd: "/" }))
      assert.isFalse(existsSync(dataDir))
      yield* makeFallbackWorkspace(task)
      yield* makeFallbackWorkspace(task)
      assert.strictEqual(statSync(task.workspace).mode & 0o777, 0o700)
      assert.strictEqual(statSync(dataDir).mode & 0o777, 0o700)
    })
  )

  it.scoped("makes no other workspace", () =>
    Effect.gen(function* () {
      const { load, project } = yield* machine
      const { task } = Either.getOrThrow(yield* load())
      yield* makeFallbackWorkspace({ ...task, workspace: `${project}/gone` })
      assert.isFalse(existsSync(`${project}/gone`))
    })
  )

  it.scoped("fails with the reason where it cannot", () =>
    Effect.gen(function* () {
      const { load, root } = yield* machine
      writeFileSync(`${root}/data`, "")
      const { task } = Either.getOrThrow(yield* load({}, { cwd: "/" }))
      const error = yield* Effect.flip(
        makeFallbackWorkspace({ ...task, hidden: [`${root}/data`], workspace: `${root}/data/workspace` })
      )
      assert.strictEqual(error._tag, "WorkspaceNotMade")
      assert.match(error.reason, /ENOTDIR|EEXIST/)
    })
  )
})
