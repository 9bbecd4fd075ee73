import { existsSync, symlinkSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import type { ToolRule, ToolSettings } from "../../src/domain/Settings.ts"
import { type ApprovalAnswer, type ApprovalRequest, Approver, decide } from "../../src/tools/Approval.ts"
import { ProcessLedger } from "../../src/tools/ProcessLedger.ts"
import { Sandbox } from "../../src/tools/Sandbox.ts"
import { ToolBox } from "../../src/tools/ToolBox.ts"
import { layer, settingsFor, temporaryFolder, toolsOn, until } from "./ToolKit.ts"

const rules = (approval: ToolSettings["approval"], ...list: ReadonlyArray<ToolRule>) =>
  settingsFor("/ws", { approval, rules: list }).tools

const command = (line: string) => ({ tool: "shell", dangerous: true, paths: [], command: line })
const write = (...paths: ReadonlyArray<string>) => ({ tool: "write_file", dangerous: true, paths, command: null })
const read = (...paths: ReadonlyArray<string>) => ({ tool: "read_file", dangerous: false, paths, command: null })

describe("decide", () => {
  it("follows tools.approval where no rule matches", () => {
    assert.strictEqual(decide(rules("never"), command("rm -rf x")), "allow")
    assert.strictEqual(decide(rules("dangerous"), command("ls")), "ask")
    assert.strictEqual(decide(rules("dangerous"), write("a")), "ask")
    assert.strictEqual(decide(rules("dangerous"), read("a")), "allow")
    assert.strictEqual(decide(rules("always"), read("a")), "ask")
  })

  it("lets the first rule that matches decide", () => {
    const tools = rules(
      "always",
      { tool: "shell", command: "npm test", action: "allow" },
      { tool: "*", action: "deny" }
    )
    assert.strictEqual(decide(tools, command("npm  test -- --run")), "allow")
    assert.strictEqual(decide(tools, command("npm install")), "deny")
    assert.strictEqual(decide(tools, command("npm tests")), "deny")
    assert.strictEqual(decide(tools, read("a")), "deny")
  })

  it("denies where a rule asks and nobody is to be asked", () => {
    assert.strictEqual(decide(rules("never", { tool: "shell", action: "ask" }), command("ls")), "deny")
  })

  it("permits by a prefix one plain command only", () => {
    const tools = rules("always", { tool: "shell", command: "npm test", action: "allow" })
    const more = ["&& rm x", "; rm x", "| sh", "\nrm x", "& rm x", "$(rm x)", "`rm x`", "> /etc/x", "<(rm x)"]
    for (const tail of more) assert.strictEqual(decide(tools, command(`npm test ${tail}`)), "ask", tail)
  })

  it("forbids by a prefix in every part of a command", () => {
    const tools = rules("never", { tool: "shell", command: "git push", action: "deny" })
    for (const line of [
      "git push",
      "cd x && git push -f",
      "true; git push",
      "echo $(git  push)",
      "(git push)",
      "x | git push",
      "a\ngit push"
    ]) {
      assert.strictEqual(decide(tools, command(line)), "deny", line)
    }
    assert.strictEqual(decide(tools, command("git pull")), "allow")
    assert.strictEqual(decide(tools, command("echo git push")), "allow")
  })

  it("matches paths by globs, permission for all names of a place, prohibition for each", () => {
    const allow = rules("always", { tool: "write_file", path: "src/**", action: "allow" })
    assert.strictEqual(decide(allow, write("src/a/b.ts", "src/a/b.ts")), "allow")
    assert.strictEqual(decide(allow, write("src/link", "secrets/x")), "ask")
    assert.strictEqual(decide(allow, write("../src/x")), "ask")
    const deny = rules("never", { tool: "*", path: "*.env", action: "deny" })
    assert.strictEqual(decide(deny, read("deep/in/prod.env", "deep/in/prod.env")), "deny")
    assert.strictEqual(decide(deny, read("harmless", "prod.env")), "deny")
    assert.strictEqual(decide(deny, read("a.ts", "a.ts")), "allow")
    assert.strictEqual(decide(deny, command("cat prod.env")), "allow")
  })
})

/** A tool box whose questions are answered by `answer`. */
const asking = (answer: (request: ApprovalRequest) => Effect.Effect<ApprovalAnswer>) =>
  ToolBox.layer.pipe(Layer.provide([Sandbox.layer, Layer.succeed(Approver, { ask: answer }), ProcessLedger.none]))

describe("a call that needs approval", () => {
  it.scopedLive("is denied, and the model told why, where nobody can be asked", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const tools = yield* toolsOn(ws, { approval: "dangerous" })
      const result = yield* tools.call("write_file", { path: "a.txt", content: "x" })
      assert.strictEqual(result.outcome, "denied")
      assert.include(result.text, "nobody can be asked")
      assert.isFalse(existsSync(`${ws}/a.txt`))
      assert.strictEqual((yield* tools.call("list_files", {})).outcome, "ok")
      assert.strictEqual((yield* tools.call("write_file", { path: "../a", content: "x" })).outcome, "error")
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("runs once somebody has allowed it, and is denied with the reason otherwise", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      const asked: Array<string> = []
      const answer = (request: ApprovalRequest): Effect.Effect<ApprovalAnswer> =>
        Effect.sync(() => {
          asked.push(`${request.tool} ${request.subject}`)
          return request.subject === "yes" ? { allowed: true, forTask: false } : { allowed: false, reason: "not today" }
        })
      yield* Effect.gen(function* () {
        const tools = yield* toolsOn(ws, { approval: "always" })
        assert.strictEqual((yield* tools.call("write_file", { path: "yes", content: "x" })).outcome, "ok")
        const denied = yield* tools.call("shell", { command: "echo x > no" })
        assert.strictEqual(denied.outcome, "denied")
        assert.include(denied.text, "not today")
      }).pipe(Effect.provide(asking(answer)))
      assert.deepStrictEqual(asked, ["write_file yes", "shell echo x > no"])
      assert.isFalse(existsSync(`${ws}/no`))
    })
  )

  it.scopedLive("is denied after approval_timeout, and withdrawn when interrupted", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      let [waiting, withdrawn] = [0, 0]
      const answer = () =>
        Effect.suspend(() => {
          waiting++
          return Effect.onInterrupt(Effect.never, () => Effect.sync(() => withdrawn++))
        })
      yield* Effect.gen(function* () {
        const hasty = yield* toolsOn(ws, { approval: "always", approvalTimeout: 20 })
        const late = yield* hasty.call("shell", { command: "touch x" })
        assert.strictEqual(late.outcome, "denied")
        assert.include(late.text, "nobody answered in time")
        const patient = yield* toolsOn(ws, { approval: "always", approvalTimeout: 600_000 })
        const call = yield* Effect.fork(patient.call("shell", { command: "touch x" }))
        yield* until(() => waiting === 2)
        yield* Fiber.interrupt(call)
      }).pipe(Effect.provide(asking(answer)))
      assert.strictEqual(withdrawn, 2)
      assert.isFalse(existsSync(`${ws}/x`))
    })
  )

  it.scopedLive("is judged by where a link leads, not by its name", () =>
    Effect.gen(function* () {
      const ws = yield* temporaryFolder
      writeFileSync(`${ws}/prod.env`, "SECRET\n")
      symlinkSync("prod.env", `${ws}/notes.txt`)
      const tools = yield* toolsOn(ws, { rules: [{ tool: "*", path: "*.env", action: "deny" }] })
      const result = yield* tools.call("read_file", { path: "notes.txt" })
      assert.strictEqual(result.outcome, "denied")
      assert.notInclude(result.text, "SECRET")
      assert.include((yield* tools.call("search_files", { pattern: "SECRET" })).text, "Nothing")
    }).pipe(Effect.provide(layer))
  )
})
