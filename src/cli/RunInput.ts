import { open } from "node:fs/promises"
import { extname } from "node:path"
import { Effect, Stream } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Bilingual } from "../domain/Settings.ts"
import type { ImageInput } from "../task/Tasks.ts"
import { CommandFailed } from "./Failures.ts"
import { note } from "./Output.ts"

/** The request as it stands on the command line; `-` reads it from stdin, up to `limit` bytes. */
export const readRequest = (argument: string, limit: number): Effect.Effect<string, CommandFailed, AppConfig> =>
  argument === "-" ? Effect.zipRight(invite, readStdin(limit)) : Effect.succeed(argument)

/** Somebody who sits there has to know that it is their turn. */
const invite = Effect.flatMap(AppConfig, ({ locale }) =>
  process.stdin.isTTY ? note(`${invitation[locale]}\n`) : Effect.void
)

const invitation: Bilingual = {
  ja: "依頼を入力してください。Ctrl-D で終わります。",
  en: "Type the request; Ctrl-D ends it."
}

const readStdin = (limit: number) =>
  Stream.fromAsyncIterable(process.stdin as AsyncIterable<Buffer>, (cause) => (cause as Error).message).pipe(
    Stream.mapError((words) => new CommandFailed({ message: `stdin cannot be read: ${words}` })),
    Stream.runFoldEffect({ chunks: [] as ReadonlyArray<Buffer>, size: 0 }, ({ chunks, size }, chunk) =>
      size + chunk.length > limit
        ? new CommandFailed({ message: `stdin holds more than ${limit} bytes, which no request may have` })
        : Effect.succeed({ chunks: [...chunks, chunk], size: size + chunk.length })
    ),
    Effect.map(({ chunks }) => Buffer.concat(chunks).toString("utf8"))
  )

/** Images by what their first bytes say; whether they are whole and small enough is judged with the request. */
export const readImages = (
  files: ReadonlyArray<string>,
  limit: number
): Effect.Effect<ReadonlyArray<ImageInput>, CommandFailed> =>
  Effect.forEach(files, (file) =>
    Effect.tryPromise({
      try: () => readFile(file, limit),
      catch: (cause) => new CommandFailed({ message: `--image ${file}: ${(cause as Error).message}` })
    }).pipe(
      Effect.flatMap((bytes) => {
        const mimeType = typeOf(bytes, file)
        return mimeType === undefined
          ? new CommandFailed({ message: `--image ${file}: it is no PNG, JPEG or WebP` })
          : Effect.succeed({ mimeType, dataBase64: bytes.toString("base64") })
      })
    )
  )

const readFile = async (file: string, limit: number): Promise<Buffer> => {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    if (size > limit) throw new Error(`it has ${size} bytes, and no more than ${limit} are accepted`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

const typeOf = (bytes: Buffer, file: string): string | undefined => {
  const head = bytes.toString("latin1", 0, 12)
  if (head.startsWith("\x89PNG")) return "image/png"
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg"
  if (/^RIFF.{4}WEBP/s.test(head)) return "image/webp"
  return byName[extname(file).toLowerCase()]
}

const byName: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp"
}
