import { Effect } from "effect"
import { type Found, findText } from "./FindText.ts"
import { nearestLines } from "./NearestLines.ts"
import { withNearest } from "./NearestName.ts"
import { flag, optional, text } from "./Parameters.ts"
import { replaceFile } from "./ReplaceFile.ts"
import { encodeText, readTextFile } from "./TextFile.ts"
import { done, makeTool, type ToolContext } from "./Tool.ts"
import { ToolFailed } from "./ToolFailed.ts"
import { applyAll, unifiedDiff } from "./UnifiedDiff.ts"
import { locate, requireWritable } from "./Workspace.ts"

const MAX_DIFF = 3000
// A shorter text stands in a file by chance.
const MIN_TELLING = 8

export const EditFile = makeTool({
  name: "edit_file",
  description: "Replace a text in a file; old_string must occur once, so give enough lines around it.",
  parameters: {
    path: text("Path relative to the workspace"),
    old_string: text("Exact text, without line numbers"),
    new_string: text("What replaces it"),
    replace_all: optional(flag("Replace every occurrence"))
  },
  dangerous: true,
  subject: ["path"],
  path: (args) => args.path,
  run: (args, context) => edit(args, context)
})

interface Edit {
  readonly path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all: boolean | undefined
}

const edit = Effect.fn("EditFile.run")(function* (args: Edit, context: ToolContext) {
  if (args.old_string === "")
    return yield* refused("`old_string` is empty. Use write_file to create a file or to replace it whole.")
  if (args.old_string === args.new_string)
    return yield* refused("`old_string` and `new_string` are the same: there is nothing to change.")
  if (/\p{Surrogate}/u.test(args.new_string)) return yield* refused("`new_string` is not valid Unicode.")
  const place = yield* locate(context.workspace, args.path)
  yield* requireWritable(place)
  const file = yield* readTextFile(context.workspace, place).pipe(withNearest(context.workspace, place))
  const found = findText(file.text, args.old_string, args.new_string, args.replace_all === true)
  if (found.kind !== "found") return yield* refused(whyNot(found, file.text, args, place.shown))
  const bytes = encodeText({ ...file, text: applyAll(file.text, found.replacements) })
  yield* replaceFile(context.workspace, place, bytes)
  const count = found.replacements.length
  const drift = found.drift === null ? "" : ` (old_string differed in ${found.drift})`
  const diff = unifiedDiff(file.text, found.replacements, Math.min(MAX_DIFF, context.budget))
  return done(`Edited ${place.shown}: ${count} ${count === 1 ? "place" : "places"}${drift}\n${diff}`, [place.shown])
})

const refused = (message: string) => new ToolFailed({ message })

const whyNot = (found: Exclude<Found, { kind: "found" }>, file: string, args: Edit, shown: string): string => {
  if (found.kind === "ambiguous") {
    const lines = found.lines.join(", ")
    return `old_string occurs more than once in ${shown} (lines ${lines}). Give more of the lines around the place, or set replace_all to true.`
  }
  const there = args.new_string.trim().length >= MIN_TELLING && file.includes(args.new_string)
  const already = there ? " new_string is already in the file: perhaps the change has been made." : ""
  return `old_string was not found in ${shown}.${already}${nearestLines(file, args.old_string)}`
}
