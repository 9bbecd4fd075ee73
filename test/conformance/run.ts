import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { type Check, type Entry, judge, readBaseline } from "./Baseline.ts"
import { empty, fixture, sagyo } from "./Servers.ts"

/** Runs the official suite against the built program and against the fixture server, and judges it by the baseline. */

const versions = ["2026-07-28", "2025-11-25"] as const
type Version = (typeof versions)[number]

/** What the fixture server is for: the extension, and what needs other tools than the program's two. */
const ofFixture = (scenario: string, version: Version): boolean =>
  scenario.startsWith("tasks-")
    ? version === "2026-07-28"
    : ["tools-call-simple-text", "tools-call-error", "json-schema-2020-12"].includes(scenario)

const suite = process.env.CONFORMANCE_SUITE ?? ""
const node = process.env.SAGYO_NODE ?? process.execPath
const program = process.env.SAGYO_PROGRAM ?? "dist/main.js"
const say = (line: string) => void process.stdout.write(`${line}\n`)

const runSuite = (args: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.async((resume) => {
    // Its exit code is of no interest: the checks that it writes are judged here.
    const child = execFile(process.execPath, [suite, ...args], { maxBuffer: 2 ** 26 }, (_, stdout) =>
      resume(Effect.succeed(stdout))
    )
    return Effect.sync(() => child.kill())
  })

const list = (version?: Version): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(runSuite(["list", "--server", ...(version === undefined ? [] : ["--spec-version", version])]), (out) =>
    [...out.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1] ?? "")
  )

type Found = ReadonlyMap<string, ReadonlyArray<Check>>

/** The checks of all scenarios of a version against a URL, by scenario. */
const checksOfVersion = (url: string, version: Version): Effect.Effect<Found> =>
  withFolder((folder) => runSuite(["server", "--url", url, "--suite", "all", "--spec-version", version, "-o", folder]))

/** The checks of these scenarios; those of an extension belong to no version and are run one by one. */
const checksOf = (url: string, version: Version, scenarios: ReadonlyArray<string>): Effect.Effect<Found> =>
  withFolder((folder) =>
    Effect.forEach(
      scenarios,
      (scenario) => {
        const target = ["--url", url, "--scenario", scenario, "--spec-version", version, "--force", "-o", folder]
        return runSuite(["server", ...target])
      },
      { concurrency: 2 }
    )
  )

const withFolder = (run: (folder: string) => Effect.Effect<unknown>): Effect.Effect<Found> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "sagyo-conformance-out-"))),
    (folder) => Effect.map(run(folder), () => readChecks(folder)),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** Each scenario has a folder `server-NAME-TIME`. */
const readChecks = (folder: string): Found =>
  new Map(
    readdirSync(folder)
      .toSorted()
      .map((name) => [
        name.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, ""),
        JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"))
      ])
  )

/** Those that pass in full against a server that has nothing. */
const hollowOnes = (version: Version) =>
  Effect.scoped(Effect.flatMap(empty, (url) => checksOfVersion(url, version))).pipe(
    Effect.map((found) => {
      const passes = (checks: ReadonlyArray<Check>) =>
        checks.length > 0 && checks.every(({ status }) => status === "SUCCESS" || status === "INFO")
      return new Set([...found].filter(([, checks]) => passes(checks)).map(([scenario]) => scenario))
    })
  )

/** Says what came of the scenarios, and gives what is not as the baseline has it. */
const report = (
  name: Entry["server"],
  version: Version,
  scenarios: ReadonlyArray<string>,
  found: Found,
  hollow: ReadonlySet<string>
): ReadonlyArray<string> => {
  const entries = baseline.filter((entry) => entry.server === name && entry.versions.includes(version))
  const verdicts = scenarios.map(
    (scenario) => [scenario, judge(scenario, found.get(scenario) ?? [], hollow.has(scenario), entries)] as const
  )
  say(`\n${name}, ${version}`)
  for (const [scenario, { problems, counted }] of verdicts) {
    if (problems.length > 0) say(`  FAILED  ${scenario}`)
    else if (counted > 0) say(`  passed  ${scenario} (${counted} checks)`)
  }
  const used = new Set(verdicts.flatMap(([, verdict]) => verdict.used))
  const counted = verdicts.reduce((sum, [, verdict]) => sum + verdict.counted, 0)
  say(`  ${counted} checks passed; ${used.size} entries of the baseline`)
  const unused = entries
    .flatMap((entry) => entry.what)
    .filter((what) => !used.has(what))
    .map((what) => `${what}: is in the baseline, but the suite has no such scenario or check`)
  return [...verdicts.flatMap(([, { problems }]) => problems), ...unused].map(
    (problem) => `${name}, ${version}: ${problem}`
  )
}

const baseline = readBaseline(new URL("./baseline.yaml", import.meta.url))

const main = Effect.gen(function* () {
  const problems: Array<string> = []
  const everything = yield* list()
  for (const version of versions) {
    const ofVersion = yield* list(version)
    const hollow = yield* hollowOnes(version)
    const found = yield* Effect.scoped(Effect.flatMap(sagyo(node, program), (url) => checksOfVersion(url, version)))
    problems.push(...report("sagyo", version, ofVersion, found, hollow))
    const forFixture = everything.filter((scenario) => ofFixture(scenario, version))
    const ofTools = yield* Effect.scoped(Effect.flatMap(fixture, (url) => checksOf(url, version, forFixture)))
    problems.push(...report("fixture", version, forFixture, ofTools, hollow))
  }
  say(problems.length === 0 ? "\nas expected" : `\nnot as expected:\n${problems.join("\n")}`)
  return problems.length === 0 ? 0 : 1
})

process.exitCode = await Effect.runPromise(main)
