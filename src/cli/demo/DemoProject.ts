import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { CommandFailed } from "../Failures.ts"

/** A small repository with a failing test, and what a server needs beside it; all of it in one temporary folder. */
export interface DemoProject {
  readonly project: string
  readonly dataDir: string
  /** Not there yet. */
  readonly config: string
}

const files = {
  "package.json": `{ "name": "cart", "private": true, "type": "commonjs", "scripts": { "test": "node test.js" } }\n`,
  "cart.js": `/** The sum of all prices. */
function total(prices) {
  let sum = 0
  for (let i = 1; i < prices.length; i++) {
    sum += prices[i]
  }
  return sum
}

module.exports = { total }
`,
  "test.js": `const { total } = require("./cart.js")

const sum = total([3, 4, 5])
if (sum !== 12) {
  console.error(\`FAIL: total([3, 4, 5]) is \${sum}, but should be 12\`)
  process.exit(1)
}
console.log("PASS: total([3, 4, 5]) is 12")
`
}

/** Gone with the scope, whatever has become of it. */
export const makeProject: Effect.Effect<DemoProject, CommandFailed, Scope.Scope> = Effect.acquireRelease(
  attempt(async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "sagyo-demo-")))
    const project = join(root, "project")
    await mkdir(project)
    await mkdir(join(root, "settings"))
    for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
    return { root, project, dataDir: join(root, "data"), config: join(root, "settings", "agent.yaml") }
  }),
  ({ root }) => Effect.promise(() => rm(root, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined))
)

/** The test as it was: what counts is that the code was mended. */
export const restoreTest = ({ project }: DemoProject) =>
  attempt(() => writeFile(join(project, "test.js"), files["test.js"]))

function attempt<A>(run: () => Promise<A>): Effect.Effect<A, CommandFailed> {
  return Effect.tryPromise({
    try: run,
    catch: (cause) => new CommandFailed({ message: `the demo's folder cannot be used: ${(cause as Error).message}` })
  })
}
