import { assert, describe, it } from "@effect/vitest"
import type { Command } from "../../src/cli/Command.ts"
import { readCommandLine } from "../../src/cli/CommandLine.ts"
import { commands } from "../../src/cli/commands.ts"

const read = (...argv: ReadonlyArray<string>) => readCommandLine(argv, commands)

const inputOf = (...argv: ReadonlyArray<string>) => {
  const asked = read(...argv)
  return asked._tag === "run" ? { name: asked.name, ...asked.input } : assert.fail(JSON.stringify(asked))
}

const reasonOf = (...argv: ReadonlyArray<string>) => {
  const asked = read(...argv)
  return asked._tag === "wrong" ? asked.reason : assert.fail(JSON.stringify(asked))
}

describe("the command line", () => {
  it("takes flags before and after a command and its arguments", () => {
    const expected = { name: "run", flags: { config: "a.yaml", json: true, temperature: 0.5 }, arguments: ["do it"] }
    assert.deepStrictEqual(inputOf("--config", "a.yaml", "run", "--json", "--temperature", "0.5", "do it"), expected)
    assert.deepStrictEqual(inputOf("run", "do it", "--temperature=0.5", "--config=a.yaml", "--json"), expected)
    assert.deepStrictEqual(inputOf("--json", "--temperature", "0.5", "run", "do it", "--config", "a.yaml"), expected)
  })

  it("collects every image, in order", () => {
    assert.deepStrictEqual(inputOf("run", "--image", "a.png", "look", "--image=b=c.png").flags.image, [
      "a.png",
      "b=c.png"
    ])
  })

  it("takes a lone dash, an empty text and what stands behind two dashes as arguments", () => {
    assert.deepStrictEqual(inputOf("run", "-").arguments, ["-"])
    assert.deepStrictEqual(inputOf("run", "").arguments, [""])
    assert.deepStrictEqual(inputOf("run", "--json", "--", "--help").arguments, ["--help"])
    assert.deepStrictEqual(inputOf("--", "run", "-x").arguments, ["-x"])
  })

  it("takes a value that begins with a dash, such as a number below zero", () => {
    assert.strictEqual(inputOf("run", "--temperature", "-1", "x").flags.temperature, -1)
    assert.strictEqual(inputOf("run", "x", "--session", "-").flags.session, "-")
  })

  it("names the nearest flag, the commands that have it, or all that there are", () => {
    assert.strictEqual(reasonOf("run", "--jsno", "x"), "--jsno is no flag of run: did you mean --json?")
    assert.strictEqual(reasonOf("run", "--temp", "1", "x"), "--temp is no flag of run: did you mean --temperature?")
    assert.strictEqual(reasonOf("run", "-json", "x"), "-json is no flag of run: did you mean --json?")
    assert.strictEqual(reasonOf("run", "--port", "1", "x"), "--port is no flag of run: it belongs to sagyo serve")
    assert.strictEqual(reasonOf("stdio", "--zzz"), "--zzz is no flag of stdio: it has --config")
    assert.match(
      reasonOf("run", "-fix the bug"),
      /^-fix the bug is no flag of run: .*begins with - stands behind --\)$/
    )
    assert.strictEqual(reasonOf("--jsno"), "there is no flag --jsno")
  })

  it("names the nearest command", () => {
    assert.strictEqual(reasonOf("rn", "x"), 'there is no command "rn". Did you mean "run"?')
    assert.strictEqual(reasonOf("can", "x"), 'there is no command "can". Did you mean "cancel"?')
    assert.strictEqual(reasonOf("constructor"), 'there is no command "constructor"')
    assert.strictEqual(reasonOf("help", "runn"), 'there is no command "runn". Did you mean "run"?')
  })

  it("says which value is missing or wrong", () => {
    assert.strictEqual(reasonOf("run", "x", "--session"), "--session takes a value: --session ID")
    assert.strictEqual(reasonOf("run", "--session", "--json", "x"), "--session takes a value: --session ID")
    assert.strictEqual(reasonOf("run", "--json=1", "x"), "--json takes no value")
    assert.strictEqual(reasonOf("run", "--session=a", "--session", "b", "x"), "--session stands twice")
    assert.strictEqual(reasonOf("serve", "--port", "x"), '--port takes a whole number from 0 to 65535, not "x"')
    assert.strictEqual(reasonOf("serve", "--port", "65536"), '--port takes a whole number from 0 to 65535, not "65536"')
    assert.strictEqual(reasonOf("tasks", "--limit", "0"), '--limit takes a whole number from 1, not "0"')
    assert.strictEqual(
      reasonOf("run", "--temperature", " ", "x"),
      '--temperature takes a number from 0.0 through 2.0, not " "'
    )
    assert.strictEqual(
      reasonOf("run", "--temperature", "NaN", "x"),
      '--temperature takes a number from 0.0 through 2.0, not "NaN"'
    )
  })

  it("says how many arguments there are", () => {
    assert.strictEqual(reasonOf("run"), "an argument is missing")
    assert.strictEqual(reasonOf("run", "fix", "it"), "there are too many arguments (quote one that has spaces)")
    assert.strictEqual(reasonOf("tasks", "all"), 'it takes no argument, not "all"')
    assert.strictEqual(reasonOf("--json"), "a command is missing")
  })

  it("gives help for the program or for one command, whatever else stands there", () => {
    assert.deepStrictEqual(read(), { _tag: "help", name: undefined })
    assert.deepStrictEqual(read("help"), { _tag: "help", name: undefined })
    assert.deepStrictEqual(read("help", "run"), { _tag: "help", name: "run" })
    assert.deepStrictEqual(read("run", "-h"), { _tag: "help", name: "run" })
    assert.deepStrictEqual(read("run", "--jsno", "--help"), { _tag: "help", name: "run" })
    assert.deepStrictEqual(read("--version"), { _tag: "version" })
  })

  it("every command's usage, flags and example agree", () => {
    const described = (command: Command) => [...command.usage.matchAll(/--(\w+)/g)].map(([, name]) => name)
    for (const [name, command] of Object.entries(commands)) {
      assert.sameMembers(described(command), [...command.flags], name)
      const words = command.example.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ""))
      assert.strictEqual(read(...words.slice(1))._tag, "run", command.example)
    }
  })
})
