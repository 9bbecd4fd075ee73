import { Effect } from "effect"
import type { Caller } from "../domain/Caller.ts"

/** Whoever runs a command is the owner. */
export const caller: Caller = { token: null, via: "cli" }

const writeTo = (stream: NodeJS.WriteStream, text: string) =>
  Effect.async<void>((resume) => {
    stream.write(text, () => resume(Effect.void))
  })

/** On a terminal, what a model or a file name says must not move the cursor or change colours. */
const write = (stream: NodeJS.WriteStream) => (text: string) =>
  writeTo(stream, stream.isTTY ? text.replace(/(?![\n\t])\p{Cc}/gu, "\ufffd") : text)

/** The result of the work, verbatim where it is no terminal; returns when it is written. */
export const out = write(process.stdout)
/** Everything else. */
export const note = write(process.stderr)
/** Everything else, with control sequences. */
export const draw = (text: string) => writeTo(process.stderr, text)
