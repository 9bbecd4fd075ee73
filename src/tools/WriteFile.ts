import { Effect } from "effect"
import { text } from "./Parameters.ts"
import { replaceFile } from "./ReplaceFile.ts"
import { type Encoding, encodeText, isCrlf, readTextFile } from "./TextFile.ts"
import { done, makeTool, type ToolContext } from "./Tool.ts"
import { ToolFailed } from "./ToolFailed.ts"
import { locate, type Place, type Workspace } from "./Workspace.ts"

const MAX_CONTENT = 64 * 1024 * 1024

export const WriteFile = makeTool({
  name: "write_file",
  description: "Create a file or replace it whole. To change a part use edit_file.",
  parameters: { path: text("Path relative to the workspace"), content: text("The whole new content") },
  dangerous: true,
  subject: ["path"],
  path: (args) => args.path,
  run: (args, context) => write(args.path, args.content, context)
})

const write = Effect.fn("WriteFile.run")(function* (path: string, content: string, context: ToolContext) {
  if (/\p{Surrogate}/u.test(content)) {
    return yield* new ToolFailed({ message: "`content` is not valid Unicode (it holds half a surrogate pair)." })
  }
  if (content.length > MAX_CONTENT) {
    return yield* new ToolFailed({ message: `\`content\` is too long: at most ${MAX_CONTENT} characters.` })
  }
  const place = yield* locate(context.workspace, path)
  const form = yield* formOf(context.workspace, place)
  const text = form.crlf ? content.replace(/\r?\n/g, "\r\n") : content
  const bytes = encodeText({
    text: text.replace(/^\ufeff/, ""),
    encoding: form.encoding,
    bom: form.bom || text.startsWith("\ufeff")
  })
  const isNew = yield* replaceFile(context.workspace, place, bytes)
  const kept = [
    ...(form.bom ? ["byte order mark"] : []),
    ...(form.encoding === "utf-8" ? [] : [form.encoding.toUpperCase()]),
    ...(form.crlf ? ["CRLF line ends"] : [])
  ]
  const note = kept.length > 0 ? ` Kept as before: ${kept.join(", ")}.` : ""
  return done(`${isNew ? "Created" : "Replaced"} ${place.shown} (${bytes.length} bytes).${note}`, [place.shown])
})

interface Form {
  readonly encoding: Encoding
  readonly bom: boolean
  readonly crlf: boolean
}

const PLAIN: Form = { encoding: "utf-8", bom: false, crlf: false }

/** How the file that stands there is written; what is no text, or too large to look at, gives way to plain UTF-8. */
const formOf = (workspace: Workspace, place: Place): Effect.Effect<Form> =>
  place.exists
    ? readTextFile(workspace, place).pipe(
        Effect.map(({ text, encoding, bom }) => ({ encoding, bom, crlf: isCrlf(text) })),
        // Whether the place can be written at all is for the writing to find out.
        Effect.orElseSucceed(() => PLAIN)
      )
    : Effect.succeed(PLAIN)
