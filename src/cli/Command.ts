import type { Effect } from "effect"
import type { Bilingual } from "../domain/Settings.ts"

/** A command line that was read: flags by their long names, and what stands beside them. */
export interface CommandInput {
  readonly flags: {
    readonly config?: string
    readonly host?: string
    readonly port?: number
    readonly session?: string
    readonly temperature?: number
    readonly image?: ReadonlyArray<string>
    readonly detach?: boolean
    readonly json?: boolean
    readonly state?: string
    readonly limit?: number
    readonly scripted?: boolean
  }
  readonly arguments: ReadonlyArray<string>
}

/** What a program may say as it ends; the process's exit code. */
export type ExitCode = number

/** A failure that ends a command before its work: its message goes to stderr and the exit code is 2. */
export interface StartFailure {
  readonly _tag: string
  readonly message: string
}

export interface Command {
  /** `run [--session ID] REQUEST`, without the program's name. */
  readonly usage: string
  readonly summary: Bilingual
  readonly example: string
  readonly flags: ReadonlyArray<keyof CommandInput["flags"]>
  readonly arguments: { readonly least: number; readonly most: number }
  /** The command runs until a signal comes, which is its good end; others end with 128 and the signal's number. */
  readonly servesUntilSignal?: boolean
  /** The command catches SIGINT itself. */
  readonly ownsInterrupt?: boolean
  readonly program: (input: CommandInput) => Promise<Effect.Effect<ExitCode, StartFailure>>
}
