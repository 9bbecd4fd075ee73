import { lstat } from "node:fs/promises"
import { Effect } from "effect"
import type { ToolSettings } from "../domain/Settings.ts"
import { decide } from "./Approval.ts"
import { fileError } from "./FileError.ts"
import { withNearest } from "./NearestName.ts"
import { kindOf, notRegular } from "./OpenFile.ts"
import { optional, text } from "./Parameters.ts"
import { plainLine, shownName } from "./PlainText.ts"
import { findProgram } from "./Programs.ts"
import { searchWithRipgrep } from "./Ripgrep.ts"
import type { SearchOutcome } from "./SearchOutcome.ts"
import { searchWithWorker } from "./SearchWorker.ts"
import { done, makeTool, type ToolContext } from "./Tool.ts"
import { ToolFailed } from "./ToolFailed.ts"
import { locate } from "./Workspace.ts"

const MAX_TEXT = 240
const MAX_SKIPPED = 5

export const SearchFiles = makeTool({
  name: "search_files",
  description: "Find lines that match a regular expression; .gitignore is honoured.",
  parameters: { pattern: text("Regular expression"), path: optional(text("Folder or file; default: all")) },
  dangerous: false,
  subject: ["pattern", "path"],
  path: (args) => args.path?.trim() || ".",
  run: (args, context) => search(args.pattern, args.path?.trim() || ".", context)
})

const search = Effect.fn("SearchFiles.run")(function* (pattern: string, path: string, context: ToolContext) {
  const problem = patternProblem(pattern)
  if (problem !== null) return yield* new ToolFailed({ message: `\`pattern\` ${problem}.` })
  const place = yield* locate(context.workspace, path)
  const stats = yield* Effect.tryPromise({
    try: () => lstat(place.real),
    catch: (cause) => fileError(cause, place.shown)
  }).pipe(withNearest(context.workspace, place))
  if (!stats.isDirectory() && !stats.isFile()) return yield* notRegular(place, kindOf(stats))
  const ripgrep = yield* Effect.promise(() => findProgram("rg", context.workspace.root))
  const outcome = yield* ripgrep === null
    ? searchWithWorker(context.workspace, place, pattern)
    : searchWithRipgrep(ripgrep, context.workspace, place, pattern)
  const { tools } = context.environment.settings
  const hits = outcome.hits.filter(({ path }) => mayBeRead(tools, path.toString("utf8")))
  return done(render({ ...outcome, hits }, place.shown, context.budget))
})

/** What may not be read by its name is not read by way of a search either. */
const mayBeRead = (tools: ToolSettings, path: string): boolean =>
  ["read_file", "search_files"].every(
    (tool) => decide(tools, { tool, dangerous: false, paths: [path], command: null }) !== "deny"
  )

const patternProblem = (pattern: string): string | null => {
  if (pattern === "") return "is empty"
  if (pattern.includes("\0") || /\p{Surrogate}/u.test(pattern)) return "holds a NUL character or half a surrogate pair"
  if (pattern.length > 2000) return "is too long: at most 2000 characters"
  return /[\n\r]/.test(pattern) ? "holds a line break: a match lies within one line" : null
}

const render = (outcome: SearchOutcome, shown: string, budget: number): string => {
  const lines: Array<string> = []
  let [used, cut] = [0, false]
  for (const hit of outcome.hits) {
    const line = `${shownName(hit.path)}:${hit.line}: ${plainLine(hit.text, MAX_TEXT)}`
    used += Buffer.byteLength(line) + 1
    if (used > budget) cut = true
    if (cut) break
    lines.push(line)
  }
  const found = lines.length === 0 ? `Nothing in ${shownName(shown)} matches.` : lines.join("\n")
  const more =
    cut || outcome.stopped === "enough"
      ? `[only the first ${lines.length} matching lines: narrow the pattern or give a path]`
      : null
  const late =
    outcome.stopped === "time" ? "[the search took too long and was ended: narrow the pattern or give a path]" : null
  const skipped =
    outcome.skipped.length > 0
      ? `[skipped: ${outcome.skipped.slice(0, MAX_SKIPPED).join("; ")}${outcome.skipped.length > MAX_SKIPPED ? `; and ${outcome.skipped.length - MAX_SKIPPED} more` : ""}]`
      : null
  return [found, more, late, skipped].filter((line) => line !== null).join("\n")
}
