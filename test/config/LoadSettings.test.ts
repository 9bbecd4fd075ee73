import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { machine, problemsOf } from "./sandbox.ts"

const settingsOf = Either.getOrThrowWith((message: string) => new Error(message))

describe("loadSettings", () => {
  it.scoped("needs no file, and creates nothing", () =>
    Effect.gen(function* () {
      const { load, home, project, root } = yield* machine
      const settings = settingsOf(yield* load())
      assert.strictEqual(settings.file, null)
      assert.strictEqual(settings.locale, "ja")
      assert.strictEqual(settings.dataDir, join(home, ".local/share/sagyo"))
      assert.strictEqual(settings.audit.file, join(home, ".local/share/sagyo/audit.jsonl"))
      assert.strictEqual(settings.task.workspace, project)
      assert.deepStrictEqual(settings.task.hidden, [settings.dataDir])
      assert.strictEqual(settings.task.ollama.baseUrl, "http://127.0.0.1:11434")
      assert.deepStrictEqual(settings.notices, [])
      assert.deepStrictEqual(readdirSync(root).sort(), ["home", "package"])
      assert.deepStrictEqual(readdirSync(home), ["project"])
    })
  )

  it.scoped("lets a flag beat the environment, the environment the file, the file the default", () =>
    Effect.gen(function* () {
      const { loadText, load, file } = yield* machine
      const text =
        "locale: en\nollama: { model: of-file }\nlog: { level: warn }\nmcp: { http: { port: 1111, host: '::1' } }\n"
      const fromFile = settingsOf(yield* loadText(text))
      assert.deepStrictEqual(
        [
          fromFile.file,
          fromFile.locale,
          fromFile.task.locale,
          fromFile.task.ollama.model,
          fromFile.log.level,
          fromFile.mcp.http.port,
          fromFile.mcp.http.host
        ],
        [file, "en", "en", "of-file", "warn", 1111, "::1"]
      )
      const env = { SAGYO_LOCALE: "ja", SAGYO_MODEL: "of-env", SAGYO_LOG_LEVEL: "debug" }
      const fromBoth = settingsOf(yield* load({ port: 0, host: "localhost" }, { env }))
      assert.deepStrictEqual(
        [
          fromBoth.locale,
          fromBoth.task.ollama.model,
          fromBoth.log.level,
          fromBoth.mcp.http.port,
          fromBoth.mcp.http.host
        ],
        ["ja", "of-env", "debug", 0, "localhost"]
      )
      const empty = settingsOf(
        yield* load(
          {},
          {
            env: {
              SAGYO_LOCALE: "",
              SAGYO_MODEL: "",
              SAGYO_WORKSPACE: "",
              SAGYO_DATA_DIR: "",
              SAGYO_CONFIG: "",
              OLLAMA_HOST: ""
            }
          }
        )
      )
      assert.deepStrictEqual(empty, fromFile)
    })
  )

  it.scoped("uses OLLAMA_HOST where the file gives no address", () =>
    Effect.gen(function* () {
      const { loadText } = yield* machine
      const env = { OLLAMA_HOST: "0.0.0.0:1234" }
      assert.strictEqual(settingsOf(yield* loadText("", { env })).task.ollama.baseUrl, "http://127.0.0.1:1234")
      const named = settingsOf(yield* loadText("ollama: { base_url: gpu-box }", { env }))
      assert.strictEqual(named.task.ollama.baseUrl, "http://gpu-box:11434")
    })
  )

  it.scoped("reports the problems of flags, environment and file in one run", () =>
    Effect.gen(function* () {
      const { load, loadText, file } = yield* machine
      yield* loadText("locale: fr\nollama: { model: ~ }\nagent: { workspace: /no/such/folder }\n")
      const env = { SAGYO_LOCALE: "de", SAGYO_LOG_LEVEL: "loud", SAGYO_MODEL: "a b", OLLAMA_HOST: "http://u:secret@h" }
      const problems = problemsOf(yield* load({ port: 70_000, host: "http://x" }, { env }), file)
      const starts = [
        "1:9: locale: ",
        "2:18: ollama.model: ",
        "SAGYO_LOCALE: ",
        "SAGYO_LOG_LEVEL: ",
        "SAGYO_MODEL: ",
        "3:21: agent.workspace: ",
        "OLLAMA_HOST: ",
        "--host: ",
        "--port: "
      ]
      assert.deepStrictEqual(
        problems.map((line) => starts.find((start) => line.startsWith(start))),
        starts
      )
      assert.notInclude(problems.join(), "secret")
    })
  )

  it.scoped("refuses a host beyond this machine without allow_remote, and auth none there in any case", () =>
    Effect.gen(function* () {
      const { load, loadText, file } = yield* machine
      const refused = problemsOf(yield* loadText("mcp:\n  http:\n    host: 0.0.0.0\n    auth: none\n"), file)
      assert.match(
        refused[0] ?? "",
        /^3:11: mcp\.http\.host: 0\.0\.0\.0 can be reached from other machines: set mcp\.http\.allow_remote/
      )
      assert.match(refused[1] ?? "", /^4:11: mcp\.http\.auth: none is accepted on loopback only/)
      assert.strictEqual(
        problemsOf(yield* loadText("mcp: { http: { host: '::', allow_remote: true, auth: none } }"), file).length,
        1
      )
      assert.isTrue(Either.isRight(yield* loadText("mcp: { http: { host: '::', allow_remote: true } }")))
      assert.isTrue(Either.isRight(yield* loadText("mcp: { http: { auth: none } }")))
      const flag = problemsOf(yield* load({ host: "192.168.0.1" }), file)
      assert.match(flag[0] ?? "", /^--host: 192\.168\.0\.1 can be reached/)
      assert.match(flag[1] ?? "", /mcp\.http\.auth: none is accepted on loopback only/)
    })
  )

  it.scoped("reads paths relative to the file, ~/ as home, and refuses what a shell would have expanded", () =>
    Effect.gen(function* () {
      const { loadText, file, home } = yield* machine
      const folder = join(home, ".config", "sagyo")
      const text =
        "data_dir: ~/data\nlog: { file: ./sagyo.log }\naudit: { file: ../audit.jsonl }\nmcp: { http: { tokens_file: tokens } }\n"
      const settings = settingsOf(yield* loadText(text, { cwd: "/" }))
      assert.strictEqual(settings.dataDir, join(home, "data"))
      assert.strictEqual(settings.log.file, join(folder, "sagyo.log"))
      assert.strictEqual(settings.audit.file, join(home, ".config", "audit.jsonl"))
      assert.strictEqual(settings.mcp.http.tokensFile, join(folder, "tokens"))
      for (const path of [
        "~other/x",
        "$" + "{HOME}/x",
        "$HOME/x",
        "''",
        "' '",
        '"a\\0b"',
        "5",
        "[a]",
        "x".repeat(5000)
      ]) {
        assert.match(
          problemsOf(yield* loadText(`data_dir: ${path}\n`), file)[0] ?? "",
          /^1:11: data_dir: must be (null or )?a path/,
          path
        )
      }
      assert.match(problemsOf(yield* loadText("data_dir: ~/data", { home: null, packageRoot: null }), file).join(), /./)
    })
  )

  it.scoped("refuses a folder as a file, and one file for both logs", () =>
    Effect.gen(function* () {
      const { loadText, file } = yield* machine
      assert.match(
        problemsOf(yield* loadText("log: { file: . }"), file)[0] ?? "",
        /^1:14: log\.file: must be a file: .* is a folder/
      )
      const same = yield* loadText("log: { file: a.log }\naudit: { file: ./a.log }\n")
      assert.match(problemsOf(same, file)[0] ?? "", /^1:14: log\.file: must not be the audit log's file/)
    })
  )

  it.scoped("puts the data where the user says, and refuses folders that others need", () =>
    Effect.gen(function* () {
      const { load, file, home, project, root } = yield* machine
      const dataOf = (env: Record<string, string>, platform: NodeJS.Platform = "linux") =>
        Effect.map(load({}, { env, platform }), (result) => settingsOf(result).dataDir)
      assert.strictEqual(yield* dataOf({ XDG_DATA_HOME: join(root, "xdg") }), join(root, "xdg", "sagyo"))
      assert.strictEqual(yield* dataOf({ XDG_DATA_HOME: "relative" }), join(home, ".local/share/sagyo"))
      assert.strictEqual(yield* dataOf({ SAGYO_DATA_DIR: "../data" }), join(home, "data"))
      assert.strictEqual(yield* dataOf({ SAGYO_DATA_DIR: "~/data" }), join(home, "data"))
      assert.strictEqual(yield* dataOf({}, "darwin"), join(home, "Library/Application Support/sagyo"))
      symlinkSync(root, join(home, "link"))
      assert.strictEqual(yield* dataOf({ SAGYO_DATA_DIR: "~/link/data/deep" }), join(root, "data", "deep"))
      writeFileSync(join(home, "taken"), "")
      for (const path of ["/", "/tmp", "/usr", root, join(home, "taken"), join(home, "taken", "below"), "~other"]) {
        assert.match(
          problemsOf(yield* load({}, { env: { SAGYO_DATA_DIR: path } }), file)[0] ?? "",
          /^SAGYO_DATA_DIR: must be a /,
          path
        )
      }
      const homeless = problemsOf(yield* load({}, { home: null, cwd: project }), file)
      assert.match(homeless[0] ?? "", /^data_dir: there is no home folder/)
    })
  )

  it.scoped("works in the folder it is told, by its real path", () =>
    Effect.gen(function* () {
      const { load, loadText, file, home, project } = yield* machine
      symlinkSync(project, join(home, "link"))
      const settings = settingsOf(yield* load({}, { env: { SAGYO_WORKSPACE: join(home, "link") }, cwd: "/" }))
      assert.strictEqual(settings.task.workspace, project)
      assert.strictEqual(
        settingsOf(yield* loadText("agent: { workspace: ../../project }", { cwd: "/" })).task.workspace,
        project
      )
      for (const path of [
        "~",
        "/",
        "/tmp",
        "/usr/share",
        "/etc",
        "/var",
        "~/.config",
        "~/.config/sagyo",
        "~/missing",
        "./",
        "~/.local/share/sagyo",
        "~/.local"
      ]) {
        mkdirSync(join(home, ".local/share/sagyo"), { recursive: true })
        const [problem] = problemsOf(yield* loadText(`agent:\n  workspace: "${path}"\n`), file)
        assert.match(problem ?? "accepted", /^2:14: agent\.workspace: must be a /, path)
      }
    })
  )

  it.scoped("goes to the data folder and says so where the current folder is dangerous or gone", () =>
    Effect.gen(function* () {
      const { load, loadText, home, packageRoot } = yield* machine
      const fallback = join(home, ".local/share/sagyo/workspace")
      mkdirSync(join(packageRoot, "src"))
      writeFileSync(join(packageRoot, "agent.yaml"), "")
      for (const cwd of [
        "/",
        home,
        join(home, ".."),
        "/tmp",
        "/usr/lib",
        "/etc",
        packageRoot,
        join(packageRoot, "src"),
        null
      ]) {
        const settings = settingsOf(yield* load({}, { cwd }))
        assert.strictEqual(settings.task.workspace, fallback, String(cwd))
        assert.match(
          settings.notices[0] ?? "",
          /^The workspace is .*, since the current folder .* set agent\.workspace or SAGYO_WORKSPACE/
        )
      }
      const above = settingsOf(
        yield* load({}, { cwd: join(home, ".."), env: { SAGYO_DATA_DIR: "/var/lib/sagyo-test" }, packageRoot: null })
      )
      assert.match(above.notices[0] ?? "", /is your home folder or holds it/)
      yield* loadText("")
      const settings = settingsOf(yield* load({}, { cwd: join(home, ".config/sagyo") }))
      assert.strictEqual(settings.task.workspace, fallback)
      assert.deepStrictEqual(settings.task.hidden, [settings.dataDir, join(home, ".config/sagyo")])
      assert.isFalse(existsSync(fallback))
    })
  )

  it.scoped("hides the settings folder, but neither a folder that others need nor the package", () =>
    Effect.gen(function* () {
      const { load, home, root, packageRoot } = yield* machine
      const hiddenWith = (file: string) => {
        writeFileSync(file, "")
        return Effect.map(load({ config: file }), (result) => settingsOf(result).task.hidden.slice(1))
      }
      mkdirSync(join(root, "own"))
      assert.deepStrictEqual(yield* hiddenWith(join(root, "own", "a.yaml")), [join(root, "own")])
      assert.deepStrictEqual(yield* hiddenWith(join(home, "a.yaml")), [])
      assert.deepStrictEqual(yield* hiddenWith(join(packageRoot, "agent.yaml")), [])
      symlinkSync(join(root, "own", "a.yaml"), join(home, "linked.yaml"))
      assert.deepStrictEqual(settingsOf(yield* load({ config: join(home, "linked.yaml") })).task.hidden.slice(1), [
        join(root, "own")
      ])
    })
  )
})
