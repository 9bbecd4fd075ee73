import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { packageRoot } from "../../src/config/PackageRoot.ts"
import { machine } from "./sandbox.ts"

describe("packageRoot", () => {
  it.scoped("is found from the bundle, its chunks and the source", () =>
    Effect.gen(function* () {
      const { packageRoot: root } = yield* machine
      writeFileSync(join(root, "package.json"), '{ "name": "sagyo" }')
      for (const file of ["dist/main.js", "dist/chunks/a.js", "src/config/a.ts", "src/a.ts"]) {
        assert.strictEqual(packageRoot(pathToFileURL(join(root, file)).href), root, file)
      }
      assert.strictEqual(packageRoot(), process.cwd())
    })
  )

  it.scoped("is never a stranger's package above a copy of the bundle", () =>
    Effect.gen(function* () {
      const { packageRoot: root } = yield* machine
      mkdirSync(join(root, "dist"))
      for (const text of ['{ "name": "stranger", "dependencies": { "sagyo": "1" } }', "{", ""]) {
        writeFileSync(join(root, "package.json"), text)
        assert.isNull(packageRoot(pathToFileURL(join(root, "dist", "main.js")).href), text)
      }
    })
  )
})
