import { Worker } from "node:worker_threads"
import { Effect, Option } from "effect"
import { absolute, type Entry, readFolder, rulesAbove } from "./FolderReader.ts"
import { shownName } from "./PlainText.ts"
import { MAX_HITS, SEARCH_MILLIS, type SearchHit, type SearchOutcome } from "./SearchOutcome.ts"
import { ToolFailed } from "./ToolFailed.ts"
import type { Place, Workspace } from "./Workspace.ts"

const MAX_FILES = 50_000
const MAX_ENTRIES = 20_000
const MAX_FILE_BYTES = 32 * 1024 * 1024
const WORKER_MEGABYTES = 256

/** What the worker says: a hit, a file that it could not read, or (once, last) why it ended. */
type Report =
  | { readonly path: Uint8Array; readonly line: number; readonly text: string }
  | { readonly path: Uint8Array; readonly problem: string }
  | { readonly end: "enough" | null }

/**
 * Searches where ripgrep is not installed. The pattern is the model's and may take for ever on a single line, so it
 * runs in a thread that is ended when its time is over or the call is interrupted.
 */
export const searchWithWorker = Effect.fn("SearchWorker.search")(function* (
  workspace: Workspace,
  place: Place,
  pattern: string
) {
  const flags = /^\(\?i\)/.test(pattern) ? "i" : ""
  const source = pattern.slice(flags === "" ? 0 : 4)
  yield* Effect.try({
    try: () => new RegExp(source, flags),
    catch: (cause) => new ToolFailed({ message: `The pattern could not be used: ${(cause as Error).message}.` })
  })
  const found = { hits: [] as SearchHit[], skipped: [] as string[] }
  const stopped = yield* Effect.promise((signal) => filesBelow(workspace, place, found.skipped, signal)).pipe(
    Effect.flatMap((files) => runWorker({ root: workspace.root, files, source, flags }, found)),
    Effect.timeoutOption(SEARCH_MILLIS)
  )
  return { ...found, stopped: Option.getOrElse(stopped, () => "time" as const) } satisfies SearchOutcome
})

const filesBelow = async (workspace: Workspace, place: Place, skipped: Array<string>, signal: AbortSignal) => {
  const start = place.shown === "." ? Buffer.alloc(0) : Buffer.from(place.shown)
  const files: Array<Buffer> = []
  const deep = place.shown.split("/").includes("node_modules")
  const descend = async (path: Buffer, above: Awaited<ReturnType<typeof rulesAbove>>): Promise<void> => {
    const content = await readFolder(workspace, path, above, MAX_ENTRIES).catch((cause: NodeJS.ErrnoException) => {
      // Only a file that was asked for by name is no folder.
      if (cause.code === "ENOTDIR" && path === start) files.push(path)
      else skipped.push(`${shownName(path)} (${cause.code})`)
      return null
    })
    for (const entry of content?.entries ?? []) {
      if (files.length >= MAX_FILES || signal.aborted) return
      if (entry.kind === "file") files.push(entry.path)
      else if (entry.kind === "folder" && (deep || !isModules(entry))) await descend(entry.path, content!.rules)
    }
  }
  await descend(start, await rulesAbove(workspace, place))
  if (files.length >= MAX_FILES) skipped.push(`whatever comes after the first ${MAX_FILES} files`)
  return files.map((path) => ({ path, from: absolute(workspace, path) }))
}

const isModules = (entry: Entry) => entry.name.toString("latin1") === "node_modules"

const runWorker = (
  data: {
    readonly root: string
    readonly files: ReadonlyArray<{ readonly path: Buffer; readonly from: Buffer }>
    readonly source: string
    readonly flags: string
  },
  found: { readonly hits: Array<SearchHit>; readonly skipped: Array<string> }
) =>
  Effect.async<"enough" | null, ToolFailed>((resume) => {
    const worker = new Worker(SOURCE, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: { ...data, maxHits: MAX_HITS, maxBytes: MAX_FILE_BYTES },
      resourceLimits: { maxOldGenerationSizeMb: WORKER_MEGABYTES }
    })
    worker.on("message", (report: Report) => {
      if ("end" in report) resume(Effect.succeed(report.end))
      else if ("problem" in report) found.skipped.push(`${shownName(report.path)} (${report.problem})`)
      else found.hits.push({ path: Buffer.from(report.path), line: report.line, text: report.text })
    })
    worker.once("error", (cause) =>
      resume(
        Effect.fail(
          new ToolFailed({ message: `The search failed: ${cause.message}. Narrow the pattern or give a path.` })
        )
      )
    )
    return Effect.promise(() => worker.terminate())
  })

// Evaluated from text: a worker's own file would not be found beside the bundled program.
const SOURCE = `
const { parentPort, workerData } = require("node:worker_threads")
const fs = require("node:fs")
const { root, files, source, flags, maxHits, maxBytes } = workerData
const pattern = new RegExp(source, flags)
const mode = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK
let hits = 0
const read = (from) => {
  const fd = fs.openSync(Buffer.from(from), mode)
  try {
    const stats = fs.fstatSync(fd)
    if (!stats.isFile()) return null
    if (stats.size > maxBytes) throw Object.assign(new Error(), { code: "too large" })
    if (process.platform === "linux" && !fs.readlinkSync("/proc/self/fd/" + fd).startsWith(root + "/")) return null
    return fs.readFileSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}
const look = (file) => {
  const bytes = read(file.from)
  if (bytes === null || bytes.subarray(0, 8192).includes(0)) return
  const lines = bytes.toString("utf8").split("\\n")
  for (let index = 0; index < lines.length && hits < maxHits; index++) {
    const line = lines[index].replace(/\\r$/, "")
    if ((index === lines.length - 1 && line === "") || !pattern.test(line)) continue
    hits++
    parentPort.postMessage({ path: file.path, line: index + 1, text: line.slice(0, 1000) })
  }
}
for (const file of files) {
  if (hits >= maxHits) break
  try {
    look(file)
  } catch (cause) {
    parentPort.postMessage({ path: file.path, problem: String(cause.code || cause.message) })
  }
}
parentPort.postMessage({ end: hits >= maxHits ? "enough" : null })
`
