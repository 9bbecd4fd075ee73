import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"

/** From the top down: a folder imports its own rank and those below it. */
const ranks = [
  ["main", "App", "AppWork"],
  ["cli"],
  ["mcp"],
  ["task"],
  ["agent"],
  ["tools"],
  ["ollama"],
  ["store", "audit"],
  ["log"],
  ["config"],
  ["domain"]
]

const rankOf = (path: string) => {
  const [top = ""] = path.replace(/\.ts$/, "").split("/")
  return ranks.findIndex((rank) => rank.includes(top))
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))
const textOf = (path: string) => readFileSync(join("src", path), "utf8")
const importsOf = (path: string) =>
  [...textOf(path).matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(([, target]) => target!)

describe("the house", () => {
  it("every folder has its rank", () => {
    assert.deepStrictEqual(
      files.filter((path) => rankOf(path) < 0),
      []
    )
  })

  it("imports go downwards", () => {
    const upwards = files.flatMap((path) =>
      importsOf(path)
        .filter((target) => target.startsWith("."))
        .map((target) => relative("src", join("src", dirname(path), target)))
        .filter((target) => !target.startsWith("..") && rankOf(target) < rankOf(path))
        // the table of commands loads the programs that are composed above it
        .filter((target) => !(path === "cli/commands.ts" && target === "App.ts"))
        .map((target) => `${path} -> ${target}`)
    )
    assert.deepStrictEqual(upwards, [])
  })

  it("domain knows nothing but effect", () => {
    const foreign = files
      .filter((path) => path.startsWith("domain/"))
      .flatMap((path) => importsOf(path).filter((target) => !target.startsWith("./") && target !== "effect"))
    assert.deepStrictEqual(foreign, [])
  })

  it("only main and the places where the SDK calls back run effects", () => {
    const running = files.filter((path) => /Effect\.run|Runtime\.run|ManagedRuntime/.test(textOf(path)))
    assert.deepStrictEqual(
      running.filter((path) => !/^(main|cli\/RunCommand|mcp\/\w+)\.ts$/.test(path)),
      []
    )
  })

  it("no file is longer than 350 lines", () => {
    assert.deepStrictEqual(
      files.filter((path) => textOf(path).split("\n").length > 351),
      []
    )
  })
})
