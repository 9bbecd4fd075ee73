import { Deferred, Effect, Option, Schema } from "effect"
import { runChild } from "./ChildProcess.ts"
import { plainLine } from "./PlainText.ts"
import { MAX_HITS, SEARCH_MILLIS, type SearchHit, type SearchOutcome } from "./SearchOutcome.ts"
import { ToolFailed } from "./ToolFailed.ts"
import { type Place, relativeTo, type Workspace } from "./Workspace.ts"

const MAX_RECORD = 1024 * 1024
const MAX_ERRORS = 64 * 1024
const LF = 10

const Bytes = Schema.Union(Schema.Struct({ text: Schema.String }), Schema.Struct({ bytes: Schema.String }))
const Match = Schema.parseJson(
  Schema.Struct({
    type: Schema.Literal("match"),
    data: Schema.Struct({ path: Bytes, lines: Bytes, line_number: Schema.Number })
  })
)

/** Searches with ripgrep, which is ended as soon as there are enough hits. */
export const searchWithRipgrep = Effect.fn("Ripgrep.search")(function* (
  program: string,
  workspace: Workspace,
  place: Place,
  pattern: string
) {
  const enough = yield* Deferred.make<void>()
  const hits: Array<SearchHit> = []
  const records = new Records((record) => {
    const match = Schema.decodeOption(Match)(record)
    if (Option.isNone(match) || hits.length >= MAX_HITS) return
    const { path, lines, line_number } = match.value.data
    hits.push({ path: withoutDot(bytesOf(path)), line: line_number, text: bytesOf(lines).toString("utf8") })
    if (hits.length >= MAX_HITS) Deferred.unsafeDone(enough, Effect.void)
  })
  let errors = ""
  const run = runChild({
    argv: [program, ...argumentsOf(workspace, place, pattern)],
    cwd: workspace.root,
    env: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" },
    timeoutMillis: SEARCH_MILLIS,
    graceMillis: 0,
    marker: null,
    onStdout: (chunk) => records.push(chunk),
    onStderr: (chunk) => {
      if (errors.length < MAX_ERRORS) errors += chunk.toString("utf8")
    }
  })
  const end = yield* Effect.raceFirst(Effect.asSome(run), Effect.as(Deferred.await(enough), Option.none()))
  const skipped = errors.split("\n").flatMap((line) => skippedOf(line))
  if (Option.isNone(end)) return { hits, skipped, stopped: "enough" } satisfies SearchOutcome
  if (end.value.timedOut) return { hits, skipped, stopped: "time" } satisfies SearchOutcome
  if (end.value.exitCode === 2 && hits.length === 0 && skipped.length === 0) {
    return yield* new ToolFailed({ message: `The pattern could not be used: ${plainLine(errors, 400)}` })
  }
  return { hits, skipped, stopped: null } satisfies SearchOutcome
})

const argumentsOf = (workspace: Workspace, place: Place, pattern: string): ReadonlyArray<string> => [
  ...["--json", "--no-config", "--sort=path", "--hidden", "--no-require-git", "--no-ignore-global"],
  ...["--glob=!.git", "--glob=!.sagyo-*.tmp", "--max-filesize=32M"],
  ...(place.shown.split("/").includes("node_modules") ? [] : ["--glob=!node_modules"]),
  ...workspace.hidden.flatMap((folder) => {
    const path = relativeTo(workspace, folder)
    return path === null ? [] : [`--glob=!/${path.replace(/[\\*?[\]{}!]/g, "\\$&")}`]
  }),
  ...["--regexp", pattern, "--", place.shown === "." ? "./" : `./${place.shown}`]
]

const bytesOf = (value: typeof Bytes.Type): Buffer =>
  "text" in value ? Buffer.from(value.text) : Buffer.from(value.bytes, "base64")

const withoutDot = (path: Buffer) => (path.toString("latin1", 0, 2) === "./" ? path.subarray(2) : path)

/** `rg: ./n: IO error for operation on ./n: Permission denied (os error 13)`, and older forms of it. */
const skippedOf = (line: string): ReadonlyArray<string> => {
  const found = /^(?:rg: )?(?:\.\/)?(.*?): (?:.*: )?([^:]*?) \(os error \d+\)$/.exec(line)
  return found ? [`${plainLine(found[1]!, 200)} (${found[2]!.toLowerCase()})`] : []
}

/** Splits a stream into lines; one that is too long is left out. */
class Records {
  readonly #onRecord: (record: string) => void
  #pieces: Array<Buffer> = []
  #length = 0

  constructor(onRecord: (record: string) => void) {
    this.#onRecord = onRecord
  }

  push(chunk: Buffer): void {
    for (let start = 0; start < chunk.length; ) {
      const found = chunk.indexOf(LF, start)
      const end = found < 0 ? chunk.length : found
      this.#length += end - start
      if (this.#length <= MAX_RECORD) this.#pieces.push(Buffer.from(chunk.subarray(start, end)))
      if (found >= 0) {
        if (this.#length <= MAX_RECORD) this.#onRecord(Buffer.concat(this.#pieces).toString("utf8"))
        this.#pieces = []
        this.#length = 0
      }
      start = end + 1
    }
  }
}
