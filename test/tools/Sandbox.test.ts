import { execFileSync, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { Sandbox } from "../../src/tools/Sandbox.ts"
import { isRunning, layer, temporaryFolder, toolsOn, until } from "./ToolKit.ts"

const problem = await Effect.runPromise(
  Effect.provide(
    Effect.flatMap(Sandbox, (sandbox) => sandbox.problem),
    Sandbox.layer
  )
)
const works = Option.isNone(problem)

/** An environment variable for the length of a test. */
const variable = (name: string, value: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.env[name]
      process.env[name] = value
      return before
    }),
    (before) =>
      Effect.sync(() => {
        if (before === undefined) delete process.env[name]
        else process.env[name] = before
      })
  )

/** A home with a workspace in it, and a shell in the sandbox. */
const sandboxed = Effect.gen(function* () {
  const t = yield* temporaryFolder
  const home = `${t}/home`
  const ws = `${home}/ws`
  mkdirSync(ws, { recursive: true })
  yield* variable("HOME", home)
  const tools = yield* toolsOn(ws, {}, { sandbox: "auto" })
  const shell = (command: string) => Effect.map(tools.call("shell", { command }), ({ text }) => text)
  return { t, home, ws, tools, shell }
})

const gitIn = (folder: string) => {
  const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: folder, encoding: "utf8" })
  git("init", "-q", "-b", "main")
  git("config", "user.email", "a@example.org")
  git("config", "user.name", "a")
  git("commit", "-q", "--allow-empty", "-m", "one")
  return git
}

describe.runIf(!works)("the sandbox", () => {
  const reason = Option.match(problem, { onNone: () => "", onSome: ({ en }) => en })
  it(`WAS NOT TESTED: it does not work on this machine. ${reason}`, () => undefined)
})

describe("a sandbox that does not work", () => {
  it.scopedLive("withholds the shell and names what mends it", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      yield* variable("PATH", ws)
      const { box, environment, call } = yield* toolsOn(ws, {}, { sandbox: "auto" })
      const { definitions, withheld } = yield* box.offer(environment)
      assert.notInclude(
        definitions.map((definition) => definition.function.name),
        "shell"
      )
      assert.strictEqual(withheld[0]?.name, "shell")
      if (process.platform === "linux") {
        assert.include(withheld[0]?.reason.en, "apt-get install bubblewrap")
        assert.include(withheld[0]?.reason.ja, "apt-get install bubblewrap")
      }
      assert.strictEqual((yield* call("shell", { command: "touch x" })).outcome, "error")
      assert.isFalse(existsSync(`${ws}/x`))
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("says why, where bubblewrap is there but may not make namespaces", () =>
    Effect.gen(function* () {
      const programs = yield* temporaryFolder
      writeFileSync(
        `${programs}/bwrap`,
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
      )
      chmodSync(`${programs}/bwrap`, 0o755)
      yield* variable("TMPDIR", yield* temporaryFolder)
      yield* variable("PATH", programs)
      const { box, environment } = yield* toolsOn(yield* temporaryFolder, {}, { sandbox: "auto" })
      const { withheld } = yield* box.offer(environment)
      if (process.platform !== "linux") return
      assert.include(withheld[0]?.reason.en, "No permissions to create new namespace")
      assert.include(withheld[0]?.reason.en, "user namespaces")
    }).pipe(Effect.provide(layer))
  )
})

describe.runIf(works)("a command in the sandbox", () => {
  it.scopedLive("works in the workspace as anywhere else", () =>
    Effect.gen(function* () {
      const { shell, ws } = yield* sandboxed
      const text = yield* shell(
        "pwd; mkdir d && echo hi > d/x && mv d e && cat e/x; node -e 'console.log(6*7)'; echo $HOME; touch ~/x && echo $?"
      )
      assert.match(text, new RegExp(`^Exit code 0 .*\n${ws}\nhi\n42\n${ws.slice(0, -3)}\n0$`))
      assert.strictEqual(readFileSync(`${ws}/e/x`, "utf8"), "hi\n")
      assert.isFalse(existsSync(`${ws}/../x`))
      assert.match(yield* shell("exit 7"), /^Exit code 7/)
      assert.match(yield* shell("ls /proc | grep -c '^[0-9]'"), /\n[1-9]$/)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("sees nothing of home, of other temporary files and of the data folder", () =>
    Effect.gen(function* () {
      const { home, shell, t, tools, ws } = yield* sandboxed
      mkdirSync(`${home}/.ssh`)
      writeFileSync(`${home}/.ssh/id`, "SECRET")
      writeFileSync(`${t}/other`, "SECRET")
      mkdirSync(`${ws}/data`)
      writeFileSync(`${ws}/data/token`, "SECRET")
      symlinkSync(`${t}/other`, `${ws}/link`)
      const text = yield* shell(
        `cat ~/.ssh/id ${home}/.ssh/id ${t}/other link /proc/1/root${t}/other; ls -A ~ ${t}; ls /var /srv /mnt /media`
      )
      assert.notInclude(text, "SECRET")
      assert.match(text, /\nws\n/)
      const hiding = { ...tools.environment.settings, hidden: [`${ws}/data`] }
      const hidden = yield* tools.box.call({ ...tools.environment, settings: hiding }, "shell", {
        command: "cat data/token; ls -A data; echo x > data/new; echo done"
      })
      assert.notInclude(hidden.text, "SECRET")
      assert.include(hidden.text, "Read-only file system")
      assert.isFalse(existsSync(`${ws}/data/new`))
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("writes nothing outside the workspace", () =>
    Effect.gen(function* () {
      const { home, shell, t } = yield* sandboxed
      const places = ["/x", "/usr/x", "/etc/x", "/dev/x", "/proc/sys/kernel/x", "/opt/x", "/var/x"]
      for (const place of places) assert.match(yield* shell(`echo x > ${place}`), /^Exit code [1-9]/, place)
      yield* shell(`mkdir -p ${t}/made ~/made; echo x > ${t}/x; echo x > ~/x; echo x > /tmp/sagyo-escaped`)
      for (const made of [`${t}/made`, `${t}/x`, `${home}/made`, `${home}/x`, "/tmp/sagyo-escaped"])
        assert.isFalse(existsSync(made), made)
      // The same value again: harmless where it gets through.
      const kernel = 'f=/proc/sys/kernel/core_pattern; v=$(cat $f) && printf %s "$v" > $f && echo WRITTEN'
      assert.notInclude(yield* shell(kernel), "\nWRITTEN")
      assert.match(yield* shell("mount -o remount,rw /usr"), /^Exit code [1-9]/)
      assert.match(yield* shell("umount /proc/sys"), /^Exit code [1-9]/)
      assert.notInclude(
        yield* shell(
          "unshare -Urm sh -c 'umount -l /etc; mount -o remount,bind,rw /usr && touch /usr/x && echo ESCAPED'"
        ),
        "\nESCAPED"
      )
      assert.match(yield* shell("mknod d b 7 0 || mknod d c 1 3"), /^Exit code [1-9]/)
      assert.match(yield* shell("ln /etc/passwd hard"), /^Exit code [1-9]/)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("reaches no network and no socket, neither by path nor by an abstract name", () =>
    Effect.gen(function* () {
      const { shell, t, ws } = yield* sandboxed
      let connections = 0
      const listen = (...at: [number, string] | [string]) =>
        Effect.acquireRelease(
          Effect.async<ReturnType<typeof createServer>>((resume) => {
            const server = createServer((socket) => {
              connections++
              socket.end("SECRET")
            })
            const listening = () => resume(Effect.succeed(server))
            if (at.length === 2) server.listen(at[0], at[1], listening)
            else server.listen(at[0], listening)
          }),
          (server) => Effect.sync(() => server.close())
        )
      const tcp = yield* listen(0, "127.0.0.1")
      const address = tcp.address()
      const port = typeof address === "object" ? address?.port : 0
      yield* listen(`${t}/daemon.sock`)
      yield* listen("\0sagyo-abstract")
      const connect = (target: string) =>
        shell(
          `node -e 'require("net").connect(${target}).on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`
        )
      assert.match(yield* connect(`${port}, "127.0.0.1"`), /\n(ECONNREFUSED|ENETUNREACH)/)
      assert.match(yield* connect(`"${t}/daemon.sock"`), /\nENOENT/)
      assert.match(yield* connect('"\\0sagyo-abstract"'), /\n(ECONNREFUSED|ENOENT)/)
      assert.strictEqual(connections, 0)
      assert.include(yield* shell("cat /proc/net/dev | grep -c :"), "\n1")
      const open = yield* toolsOn(ws, {}, { sandbox: "auto", network: true })
      const allowed = yield* open.call("shell", { command: `exec 3<>/dev/tcp/127.0.0.1/${port}; cat <&3` })
      assert.include(allowed.text, "SECRET")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("knows no process outside, and nothing of the program's environment", () =>
    Effect.gen(function* () {
      yield* variable("SAGYO_TEST_SECRET", "s3cret")
      const { shell } = yield* sandboxed
      const victim = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sleep", ["985"], { stdio: "ignore" })),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      assert.match(yield* shell(`kill -9 ${victim.pid}`), /^Exit code [1-9]/)
      yield* shell("kill -9 -1")
      assert.isTrue(isRunning(victim.pid ?? 0))
      assert.notInclude(yield* shell("cat /proc/*/environ | tr '\\0' '\\n'; env"), "s3cret")
      assert.notInclude(yield* shell("cat /proc/*/cmdline | tr '\\0' ' '"), "sleep 985")
    }).pipe(Effect.provide(layer))
  )

  // D02
  it.scopedLive("takes everything that it started with it, at its end and when interrupted", () =>
    Effect.gen(function* () {
      const { tools, ws } = yield* sandboxed
      const [one, two] = [randomUUID(), randomUUID()]
      // The mark is how the processes are found from outside: inside they have other ids.
      const running = (mark: string) =>
        execFileSync("bash", ["-c", `grep -alsz '^${mark}$' /proc/[0-9]*/cmdline | wc -l`], { encoding: "utf8" })
      const daemon = (mark: string) =>
        `setsid nohup bash -c 'touch up; while :; do sleep 0.1; done' ${mark} >/dev/null 2>&1 & until [ -e up ]; do :; done`
      yield* tools.call("shell", { command: `${daemon(one)}; echo started` })
      assert.strictEqual(running(one).trim(), "0")
      execFileSync("rm", [`${ws}/up`])
      const call = yield* Effect.fork(
        tools.call("shell", { command: `${daemon(two)}; trap '' TERM; touch ready; sleep 600` })
      )
      yield* until(() => existsSync(`${ws}/ready`))
      assert.notStrictEqual(running(two).trim(), "0")
      yield* Fiber.interrupt(call)
      assert.strictEqual(running(two).trim(), "0")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("uses git, but changes neither its hooks nor its settings, by no detour", () =>
    Effect.gen(function* () {
      const { shell, ws } = yield* sandboxed
      const git = gitIn(ws)
      mkdirSync(`${ws}/sub`)
      gitIn(`${ws}/sub`)
      const config = readFileSync(`${ws}/.git/config`, "utf8")
      const identity = "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b"
      assert.match(
        yield* shell(`echo x > f && git add f && ${identity} git commit -q -m two && git status --short`),
        /^Exit code 0/
      )
      assert.strictEqual(git("log", "--format=%s").trim(), "two\none")
      const attempts = [
        "echo x > .git/hooks/pre-commit",
        "rm -rf .git/hooks",
        "mv .git/hooks .git/h",
        "echo x >> .git/config",
        "git config core.fsmonitor ./evil",
        "mv .git .git2",
        "rm .git/config",
        "echo x > sub/.git/hooks/post-commit",
        "cd sub && git config core.pager ./evil",
        "mv sub/.git sub/x"
      ]
      for (const attempt of attempts) assert.match(yield* shell(attempt), /^Exit code [1-9]/, attempt)
      assert.strictEqual(readFileSync(`${ws}/.git/config`, "utf8"), config)
      assert.isFalse(existsSync(`${ws}/.git/hooks/pre-commit`))
      const detour = yield* shell("mkdir evil; echo ../evil > .git/commondir; echo x > .git/config.worktree")
      assert.include(detour, "removed again")
      assert.isFalse(existsSync(`${ws}/.git/commondir`))
      assert.isFalse(existsSync(`${ws}/.git/config.worktree`))
      assert.strictEqual(git("config", "user.name").trim(), "a")
      const call = yield* Effect.fork(shell("echo ../evil > .git/commondir; touch ready; sleep 600"))
      yield* until(() => existsSync(`${ws}/ready`))
      yield* Fiber.interrupt(call)
      assert.isFalse(existsSync(`${ws}/.git/commondir`))
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("cannot have files outside removed by a link in the place of a repository", () =>
    Effect.gen(function* () {
      const { home, shell, ws } = yield* sandboxed
      mkdirSync(`${home}/other/.git`, { recursive: true })
      writeFileSync(`${home}/other/.git/commondir`, "keep")
      writeFileSync(`${home}/other/commondir`, "keep")
      mkdirSync(`${ws}/.git/modules/m`, { recursive: true })
      writeFileSync(`${ws}/.git/modules/m/HEAD`, "")
      mkdirSync(`${ws}/sub/.git`, { recursive: true })
      const text = yield* shell(
        `mv sub gone && ln -s ${home}/other sub; mv .git/modules .git/m2; mkdir .git/modules; ln -s ${home}/other .git/modules/m`
      )
      assert.match(text, /^Exit code 0/)
      assert.strictEqual(readFileSync(`${home}/other/.git/commondir`, "utf8"), "keep")
      assert.strictEqual(readFileSync(`${home}/other/commondir`, "utf8"), "keep")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("looks into the repository of a worktree, and only if that one names the worktree", () =>
    Effect.gen(function* () {
      const { home, shell, ws } = yield* sandboxed
      mkdirSync(`${home}/main`)
      const git = gitIn(`${home}/main`)
      execFileSync("rmdir", [ws])
      git("worktree", "add", "-q", ws)
      assert.match(yield* shell("git log --format=%s"), /\none$/)
      assert.match(yield* shell(`echo x > ${home}/main/.git/hooks/pre-commit`), /^Exit code [1-9]/)
      assert.match(yield* shell("echo gitdir: /etc > .git"), /^Exit code [1-9]/)
      const elsewhere = `${home}/elsewhere`
      mkdirSync(elsewhere)
      writeFileSync(`${elsewhere}/secret`, "SECRET")
      writeFileSync(`${ws}/.git`, `gitdir: ${elsewhere}\n`)
      assert.notInclude(yield* shell(`cat ${elsewhere}/secret`), "SECRET")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("has the toolchains of PATH, also below home, but not the secrets among them", () =>
    Effect.gen(function* () {
      const { home, shell } = yield* sandboxed
      mkdirSync(`${home}/.nvm/v1/bin`, { recursive: true })
      mkdirSync(`${home}/.cargo/bin`, { recursive: true })
      mkdirSync(`${home}/.local/bin`, { recursive: true })
      mkdirSync(`${home}/.local/share/keyrings`, { recursive: true })
      mkdirSync(`${home}/bin`)
      writeFileSync(`${home}/.nvm/v1/lib.sh`, "echo from-nvm")
      writeFileSync(`${home}/.nvm/v1/bin/tool`, '#!/bin/sh\n. "$HOME/.nvm/v1/lib.sh"\n', { mode: 0o755 })
      writeFileSync(`${home}/.cargo/credentials.toml`, "SECRET")
      writeFileSync(`${home}/.local/share/keyrings/k`, "SECRET")
      writeFileSync(`${home}/bin/mine`, "#!/bin/sh\necho from-bin\n", { mode: 0o755 })
      symlinkSync("v1", `${home}/.nvm/current`)
      const folders = [
        `${home}/.nvm/current/bin`,
        `${home}/.cargo/bin`,
        `${home}/.local/bin`,
        `${home}/bin`,
        "relative"
      ]
      yield* variable("PATH", `${folders.join(":")}:${process.env.PATH}`)
      const text = yield* shell(
        "tool; mine; cat ~/.cargo/credentials.toml ~/.local/share/keyrings/k; echo $PATH; echo x > ~/.nvm/v1/x || echo refused"
      )
      assert.include(text, "from-nvm\nfrom-bin")
      assert.notInclude(text, "SECRET")
      assert.notInclude(text, "relative:")
      assert.include(text, "refused")
      assert.isFalse(existsSync(`${home}/.nvm/v1/x`))
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("cannot exchange a folder for a link to lead a file tool outside", () =>
    Effect.gen(function* () {
      const { shell, t, tools, ws } = yield* sandboxed
      writeFileSync(`${t}/victim`, "old")
      yield* shell(`ln -s ${t} out; ln -s ${t}/victim file; mkdir d; ln -s ../../../victim d/up`)
      for (const path of ["out/victim", "file", "d/up"]) {
        assert.strictEqual((yield* tools.call("write_file", { path, content: "x" })).outcome, "error", path)
        assert.strictEqual((yield* tools.call("read_file", { path })).outcome, "error", path)
      }
      assert.strictEqual(readFileSync(`${t}/victim`, "utf8"), "old")
      assert.isTrue(lstatSync(`${ws}/out`).isSymbolicLink())
    }).pipe(Effect.provide(layer))
  )
})
