import { Effect } from "effect"
import { openFile } from "./OpenFile.ts"
import { ToolFailed } from "./ToolFailed.ts"
import type { Place, Workspace } from "./Workspace.ts"

export type Encoding = "utf-8" | "utf-16le" | "utf-16be"

/** A whole text file: `text` is without the byte order mark that `bom` stands for. */
export interface TextFile {
  readonly text: string
  readonly encoding: Encoding
  readonly bom: boolean
}

/** Larger files are not edited as a whole. */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024

/** None where the bytes are no text in UTF-8, or in UTF-16 with a byte order mark. */
export const decodeText = (bytes: Uint8Array): TextFile | null => {
  const encoding = markedEncoding(bytes)
  const bom = encoding !== null
  try {
    const text = new TextDecoder(encoding ?? "utf-8", { fatal: true }).decode(bytes)
    return text.includes("\0") ? null : { text, encoding: encoding ?? "utf-8", bom }
  } catch {
    return null
  }
}

/** What the byte order mark says, null where there is none. */
export const markedEncoding = (bytes: Uint8Array): Encoding | null => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : null
}

export const encodeText = (file: TextFile): Buffer => {
  const text = file.bom ? `\ufeff${file.text}` : file.text
  if (file.encoding === "utf-8") return Buffer.from(text, "utf8")
  const bytes = Buffer.from(text, "utf16le")
  return file.encoding === "utf-16le" ? bytes : bytes.swap16()
}

/** Whether every line ends in CRLF, and there is one. */
export const isCrlf = (text: string): boolean => text.includes("\r\n") && !/(?<!\r)\n/.test(text)

export const notText = (shown: string): ToolFailed =>
  new ToolFailed({
    message: `${shown} is not text in UTF-8 (or UTF-16 with a byte order mark), so it is left as it is. A shell command such as iconv can convert it.`
  })

/** Reads a whole text file of at most `MAX_TEXT_BYTES`. */
export const readTextFile = Effect.fn("TextFile.read")(function* (workspace: Workspace, place: Place) {
  const { handle, stats } = yield* openFile(workspace, place)
  if (stats.size > MAX_TEXT_BYTES) {
    return yield* new ToolFailed({
      message: `${place.shown} has ${stats.size} bytes: too large to edit (at most ${MAX_TEXT_BYTES}). Use a shell command such as sed.`
    })
  }
  const bytes = yield* Effect.tryPromise({
    try: () => handle.readFile(),
    catch: () => new ToolFailed({ message: `${place.shown} could not be read.` })
  })
  const file = decodeText(bytes)
  if (file === null) return yield* notText(place.shown)
  return file
}, Effect.scoped)
