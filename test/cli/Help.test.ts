import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import manifest from "../../package.json" with { type: "json" }
import { commands } from "../../src/cli/commands.ts"
import { helpLocale } from "../../src/cli/Help.ts"
import { program } from "../mcp/BuiltProgram.ts"
import { sagyo } from "./Cli.ts"

/** A file of the bundle and all that it imports before it runs. */
const loadedBy = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file)) return seen
  seen.add(file)
  const imports = readFileSync(file, "utf8").matchAll(/(?:from|import)\s*"(\.[^"]+)"/g)
  for (const [, target] of imports) loadedBy(join(dirname(file), target!), seen)
  return seen
}

describe("help", () => {
  it("loads nothing but the table of commands", () => {
    const bytes = [...loadedBy(program)].reduce((sum, file) => sum + readFileSync(file).length, 0)
    assert.isBelow(bytes, 20_000)
  })

  it.scopedLive("names every command, in the language of the terminal", () =>
    Effect.gen(function* () {
      const english = yield* sagyo(["--help"])
      const japanese = yield* sagyo([], "", { LANG: "ja_JP.UTF-8" })
      assert.deepStrictEqual([english.exit, english.stderr, japanese.exit], [0, "", 0])
      for (const command of Object.values(commands)) {
        assert.include(english.stdout, `  sagyo ${command.usage}\n      ${command.summary.en}\n`)
        assert.include(japanese.stdout, `  sagyo ${command.usage}\n      ${command.summary.ja}\n`)
      }
    })
  )

  it.scopedLive("of one command explains its flags", () =>
    Effect.gen(function* () {
      const help = yield* sagyo(["run", "--help"])
      assert.strictEqual(help.exit, 0)
      for (const flag of [...commands.run!.flags, "config"])
        assert.match(help.stdout, new RegExp(`^  --${flag} .*\\S$`, "m"))
      assert.deepStrictEqual(yield* sagyo(["help", "run"]), help)
    })
  )

  it.scopedLive("a wrong command line exits 2 and shows the usage on stderr", () =>
    Effect.gen(function* () {
      const wrong = yield* sagyo(["run", "--jsno", "x"])
      assert.deepStrictEqual([wrong.exit, wrong.stdout], [2, ""])
      assert.strictEqual(
        wrong.stderr,
        `sagyo: --jsno is no flag of run: did you mean --json?\nUsage: sagyo ${commands.run!.usage}. See sagyo run --help\n`
      )
      assert.strictEqual((yield* sagyo(["--version"])).stdout, `${manifest.version}\n`)
    })
  )

  it("follows SAGYO_LOCALE, then the locale of the terminal", () => {
    assert.strictEqual(helpLocale({}), "en")
    assert.strictEqual(helpLocale({ LANG: "ja_JP.UTF-8" }), "ja")
    assert.strictEqual(helpLocale({ LANG: "ja_JP.UTF-8", LC_ALL: "C" }), "en")
    assert.strictEqual(helpLocale({ LANG: "ja_JP.UTF-8", SAGYO_LOCALE: "en" }), "en")
  })
})
