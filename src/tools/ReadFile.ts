import { Effect } from "effect"
import { fileError } from "./FileError.ts"
import { binaryKind } from "./FileKind.ts"
import { type LineBounds, type LineRange, readLines, splitLines } from "./LineReader.ts"
import { withNearest } from "./NearestName.ts"
import { type OpenFile, openFile } from "./OpenFile.ts"
import { count, optional, text } from "./Parameters.ts"
import { markedEncoding, notText, readTextFile } from "./TextFile.ts"
import { done, makeTool, type ToolContext } from "./Tool.ts"
import { ToolFailed } from "./ToolFailed.ts"
import { locate, type Place } from "./Workspace.ts"

const MAX_LINES = 2000
const MAX_LINE_BYTES = 2000
const MAX_SCAN = 256 * 1024 * 1024
const HEAD = 8192

export const ReadFile = makeTool({
  name: "read_file",
  description: "Read a text file. Lines come as NUMBER|TEXT.",
  parameters: {
    path: text("Path relative to the workspace"),
    offset: optional(count("First line, from 1")),
    limit: optional(count("Number of lines"))
  },
  dangerous: false,
  subject: ["path"],
  path: (args) => args.path,
  run: (args, context) => read(args.path, args.offset ?? 1, args.limit ?? MAX_LINES, context)
})

const read = Effect.fn("ReadFile.run")(function* (path: string, offset: number, limit: number, context: ToolContext) {
  const place = yield* locate(context.workspace, path)
  const file = yield* openFile(context.workspace, place).pipe(withNearest(context.workspace, place))
  const bounds = {
    offset,
    limit: Math.min(limit, MAX_LINES),
    maxBytes: context.budget,
    maxLine: MAX_LINE_BYTES,
    maxScan: MAX_SCAN
  }
  const range = yield* readRange(file, place, bounds, context)
  const lines = range.lines.map((line, index) => decodeLine(line, range.cut.get(index) ?? 0))
  if (lines.includes(null)) return yield* notText(place.shown)
  if (lines.length === 0 && offset > 1) return yield* beyond(place, range, offset)
  if (lines.length === 0) return done(`${place.shown} is empty.`)
  const body = lines.map((line, index) => `${offset + index}|${line}`).join("\n")
  return done(range.more ? `${body}\n${goesOn(offset, lines.length, file.stats.size)}` : body)
}, Effect.scoped)

const readRange = Effect.fn("ReadFile.range")(function* (
  file: OpenFile,
  place: Place,
  bounds: LineBounds,
  context: ToolContext
) {
  const attempt = <A>(work: () => Promise<A>) =>
    Effect.tryPromise({ try: work, catch: (cause) => fileError(cause, place.shown) })
  const head = Buffer.alloc(HEAD)
  const { bytesRead } = yield* attempt(() => file.handle.read(head, 0, HEAD, 0))
  const start = head.subarray(0, bytesRead)
  const encoding = markedEncoding(start)
  if (encoding === "utf-16le" || encoding === "utf-16be") {
    const whole = yield* readTextFile(context.workspace, place)
    return splitLines(whole.text, bounds)
  }
  const binary = binaryKind(start)
  if (binary !== null) {
    return yield* new ToolFailed({
      message: `${place.shown} is ${binary} of ${file.stats.size} bytes, which cannot be shown as text.`
    })
  }
  return yield* attempt(() => readLines(file.handle, bounds, encoding === "utf-8" ? 3 : 0))
})

/** None where the bytes are no UTF-8; a character that the cut went through is left out with the rest. */
const decodeLine = (bytes: Buffer, cut: number): string | null => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  try {
    const line = decoder.decode(bytes, { stream: cut > 0 })
    return cut > 0 ? `${line}… [${cut} more bytes in this line]` : line
  } catch {
    return null
  }
}

const beyond = (place: Place, range: LineRange, offset: number) =>
  new ToolFailed({
    message:
      range.total === null
        ? `${place.shown}: line ${offset} is too far into the file. Use search_files, or a shell command such as sed.`
        : `${place.shown} has only ${range.total} lines; offset ${offset} is behind its end.`
  })

const goesOn = (offset: number, shown: number, size: number) =>
  `[lines ${offset} to ${offset + shown - 1} of a file of ${size} bytes; it goes on: call read_file with offset ${offset + shown}]`
