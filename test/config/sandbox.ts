import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Either } from "effect"
import type { Settings } from "../../src/config/AppConfig.ts"
import { loadSettings } from "../../src/config/LoadSettings.ts"
import type { ConfigFlags, Sources } from "../../src/config/Sources.ts"

/** Folders of a user who has nothing yet: a home, a project to stand in, an empty package. */
export interface Machine {
  readonly root: string
  readonly home: string
  readonly project: string
  readonly packageRoot: string
  readonly sources: (change?: Partial<Sources>) => Sources
  readonly load: (flags?: ConfigFlags, change?: Partial<Sources>) => Effect.Effect<Either.Either<Settings, string>>
  /** Loads a settings file with this content from the user's own place. */
  readonly loadText: (
    content: string | Uint8Array,
    change?: Partial<Sources>
  ) => Effect.Effect<Either.Either<Settings, string>>
  readonly file: string
}

export const machine = Effect.acquireRelease(
  Effect.sync((): Machine => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "sagyo-config-")))
    const [home, project, packageRoot] = [join(root, "home"), join(root, "home", "project"), join(root, "package")]
    for (const folder of [home, project, packageRoot]) mkdirSync(folder)
    const file = join(home, ".config", "sagyo", "agent.yaml")
    const sources: Machine["sources"] = (change) => ({
      flags: {},
      env: {},
      cwd: project,
      home,
      tmp: join(root, "tmp"),
      platform: "linux",
      packageRoot,
      ...change
    })
    const load: Machine["load"] = (flags = {}, change = {}) =>
      loadSettings(sources({ flags, ...change })).pipe(
        Effect.mapError((error) => error.message),
        Effect.either
      )
    const loadText: Machine["loadText"] = (content, change) => {
      mkdirSync(join(home, ".config", "sagyo"), { recursive: true })
      writeFileSync(file, content)
      return load({}, change)
    }
    return { root, home, project, packageRoot, sources, load, loadText, file }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

/** What is wrong, without the name of the file in front. */
export const problemsOf = (result: Either.Either<Settings, string>, file: string): ReadonlyArray<string> =>
  Either.match(result, {
    onLeft: (message) => message.split("\n").map((line) => line.replace(`${file}:`, "")),
    onRight: () => []
  })
