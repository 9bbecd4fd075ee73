import { readFile } from "node:fs/promises"
import { extname } from "node:path"
import { text } from "node:stream/consumers"
import { Effect } from "effect"
import type { ImageInput } from "../task/Tasks.ts"
import { CommandFailed } from "./Failures.ts"

/** The request as it stands on the command line; `-` reads it from stdin. */
export const readRequest = (argument: string): Effect.Effect<string, CommandFailed> =>
  argument === "-"
    ? Effect.tryPromise({
        try: () => text(process.stdin),
        catch: (cause) => new CommandFailed({ message: `stdin cannot be read: ${(cause as Error).message}` })
      })
    : Effect.succeed(argument)

const mimeTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp"
}

/** Image files by their endings; whether they are what they say is judged with the request. */
export const readImages = (files: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<ImageInput>, CommandFailed> =>
  Effect.forEach(files, (file) => {
    const mimeType = mimeTypes[extname(file).toLowerCase()]
    return mimeType === undefined
      ? new CommandFailed({ message: `--image ${file}: its name must end in ${Object.keys(mimeTypes).join(", ")}` })
      : Effect.tryPromise({
          try: async () => ({ mimeType, dataBase64: await readFile(file, "base64") }),
          catch: (cause) => new CommandFailed({ message: `--image ${file}: ${(cause as Error).message}` })
        })
  })
