import { Effect } from "effect"
import type { Caller } from "../domain/Caller.ts"

/** Whoever runs a command is the owner. */
export const caller: Caller = { token: null, via: "cli" }

const write = (stream: NodeJS.WriteStream) => (text: string) =>
  Effect.async<void>((resume) => {
    stream.write(text, () => resume(Effect.void))
  })

/** The result of the work; returns when it is written. */
export const out = write(process.stdout)
/** Everything else. */
export const note = write(process.stderr)
