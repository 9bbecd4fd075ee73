import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { findConfigFile } from "../../src/config/ConfigFile.ts"
import type { Sources } from "../../src/config/Sources.ts"
import { machine } from "./sandbox.ts"

const found = (sources: Sources) => Either.getOrElse(findConfigFile(sources), (words) => words)
const put = (folder: string, text: string) => {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, "agent.yaml")
  writeFileSync(file, text)
  return { file, text }
}

describe("findConfigFile", () => {
  it.scoped("takes the first there is: the flag's, the variable's, the user's, the package's", () =>
    Effect.gen(function* () {
      const { sources, root, home, packageRoot } = yield* machine
      const files = ["flag", "variable", "xdg"].map((name) => put(join(root, name, "sagyo"), name))
      const [flag, variable, xdg] = files
      const own = put(join(home, ".config", "sagyo"), "own")
      const shipped = put(packageRoot, "shipped")
      const env = { SAGYO_CONFIG: variable?.file, XDG_CONFIG_HOME: join(root, "xdg") }
      assert.deepStrictEqual(found(sources({ flags: { config: flag?.file ?? "" }, env })), flag)
      assert.deepStrictEqual(found(sources({ env })), variable)
      assert.deepStrictEqual(found(sources({ env: { ...env, SAGYO_CONFIG: "" } })), xdg)
      assert.deepStrictEqual(found(sources()), own)
      rmSync(own.file)
      assert.deepStrictEqual(found(sources()), shipped)
      rmSync(shipped.file)
      assert.isNull(found(sources()))
      assert.isNull(found(sources({ home: null, packageRoot: null, cwd: null })))
    })
  )

  it.scoped("never takes one from the current folder", () =>
    Effect.gen(function* () {
      const { sources, project } = yield* machine
      put(project, "stranger")
      put(join(project, "sagyo"), "stranger")
      put(join(project, ".config", "sagyo"), "stranger")
      for (const env of [
        {},
        { XDG_CONFIG_HOME: relative(process.cwd(), project) },
        { XDG_CONFIG_HOME: "" },
        { SAGYO_CONFIG: "" }
      ]) {
        assert.isNull(found(sources({ env })), JSON.stringify(env))
      }
    })
  )

  it.scoped("takes a named file relative to the current folder, and ~/ as home", () =>
    Effect.gen(function* () {
      const { sources, home } = yield* machine
      const { file } = put(home, "named")
      for (const config of ["../agent.yaml", "~/agent.yaml", file]) {
        assert.deepStrictEqual(found(sources({ flags: { config } })), { file, text: "named" })
        assert.deepStrictEqual(found(sources({ env: { SAGYO_CONFIG: config } })), { file, text: "named" })
      }
    })
  )

  it.scoped("does not look further where the named file, or a link of the user's own, leads to nothing", () =>
    Effect.gen(function* () {
      const { sources, home, packageRoot } = yield* machine
      put(packageRoot, "shipped")
      const missing = join(home, "missing.yaml")
      assert.strictEqual(
        found(sources({ flags: { config: missing } })),
        `${missing}: there is no such file (--config); "sagyo init" writes one`
      )
      assert.strictEqual(
        found(sources({ env: { SAGYO_CONFIG: missing } })),
        `${missing}: there is no such file (SAGYO_CONFIG); "sagyo init" writes one`
      )
      assert.strictEqual(found(sources({ flags: { config: "" } })), "--config: must name a file")
      mkdirSync(join(home, ".config", "sagyo"), { recursive: true })
      symlinkSync("nowhere", join(home, ".config", "sagyo", "agent.yaml"))
      assert.match(String(found(sources())), /agent\.yaml: cannot be read: it is a link to nothing$/)
    })
  )

  // F08
  it.scoped("reads a file with a byte order mark, and through links", () =>
    Effect.gen(function* () {
      const { sources, home } = yield* machine
      const { file } = put(home, "\ufefflocale: en\n")
      assert.deepStrictEqual(found(sources({ flags: { config: file } })), { file, text: "locale: en\n" })
      symlinkSync(file, join(home, "link.yaml"))
      assert.deepStrictEqual(found(sources({ flags: { config: join(home, "link.yaml") } })), {
        file: join(home, "link.yaml"),
        text: "locale: en\n"
      })
    })
  )

  // F09
  it.scoped("refuses other encodings, with the place of the first wrong byte", () =>
    Effect.gen(function* () {
      const { sources, home } = yield* machine
      const file = join(home, "x.yaml")
      const utf16 = Buffer.from("locale: en\n", "utf16le")
      const cases = [
        [utf16, `${file}:1:1: not valid UTF-8 (it looks like UTF-16): save it as UTF-8`],
        [
          Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
          `${file}:1:1: not valid UTF-8 (it looks like UTF-16): save it as UTF-8`
        ],
        [
          Buffer.concat([Buffer.from([0xfe, 0xff]), utf16.swap16()]),
          `${file}:1:1: not valid UTF-8 (it looks like UTF-16): save it as UTF-8`
        ],
        [Buffer.from("ollama:\n  model: caf\xe9\n", "latin1"), `${file}:2:13: not valid UTF-8: save the file as UTF-8`],
        [
          Buffer.concat([Buffer.from("# 日本語\nlocale: "), Buffer.from([0x93, 0xfa])]),
          `${file}:2:9: not valid UTF-8: save the file as UTF-8`
        ]
      ] as const
      for (const [bytes, expected] of cases) {
        writeFileSync(file, bytes)
        assert.strictEqual(found(sources({ flags: { config: file } })), expected)
      }
    })
  )

  it.scoped("refuses what is no regular file of a reasonable length, without waiting for it", () =>
    Effect.gen(function* () {
      const { sources, home } = yield* machine
      const at = (name: string) => join(home, name)
      execFileSync("mkfifo", [at("fifo")])
      writeFileSync(at("big"), "# words\n".repeat(10 * 131_072))
      writeFileSync(at("zeros"), Buffer.alloc(65_537, "#"))
      mkdirSync(at("folder"))
      symlinkSync("round", at("round"))
      const cases = [
        [at("fifo"), "it is not a regular file"],
        ["/dev/zero", "it is not a regular file"],
        [at("folder"), "it is a folder"],
        [at("big"), "it is longer than 64 KiB"],
        [at("zeros"), "it is longer than 64 KiB"],
        [at("round"), "its links go round in a circle"]
      ] as const
      for (const [file, reason] of cases) {
        assert.strictEqual(found(sources({ flags: { config: file } })), `${file}: cannot be read: ${reason}`)
      }
    })
  )

  it.scoped("does not skip a file of the user's that may not be read", () =>
    Effect.gen(function* () {
      const { sources, home, packageRoot } = yield* machine
      put(packageRoot, "shipped")
      const { file } = put(join(home, ".config", "sagyo"), "own")
      chmodSync(file, 0)
      // Root may read anything.
      const expected = process.getuid?.() === 0 ? { file, text: "own" } : `${file}: cannot be read: permission denied`
      assert.deepStrictEqual(found(sources()), expected)
    })
  )
})
