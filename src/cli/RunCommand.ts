import { constants } from "node:os"
import { Cause, Effect, Exit, Fiber, Option } from "effect"
import type { Command, CommandInput, ExitCode } from "./Command.ts"

const WRONG = 2
const BROKEN = 1

/**
 * Runs a command to its end. A signal interrupts it, and its clean-up still runs; a second Ctrl-C does not wait
 * for that. What cannot start says on stderr why and what mends it.
 */
export const runCommand = async (command: Command, input: CommandInput): Promise<ExitCode> => {
  let ended: NodeJS.Signals | undefined
  let interrupt = (): void => undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (ended === "SIGINT" && signal === "SIGINT") process.exit(codeOf(signal))
    ended ??= signal
    interrupt()
  }
  const codeOf = (signal: NodeJS.Signals) => (command.servesUntilSignal ? 0 : 128 + constants.signals[signal])
  const signals: ReadonlyArray<NodeJS.Signals> = command.ownsInterrupt
    ? ["SIGTERM", "SIGHUP"]
    : ["SIGTERM", "SIGHUP", "SIGINT"]
  for (const signal of signals) process.on(signal, onSignal)
  const fiber = Effect.runFork(await command.program(input))
  interrupt = () => void Effect.runFork(Fiber.interruptFork(fiber))
  if (ended !== undefined) interrupt()
  const exit = await Effect.runPromise(Fiber.await(fiber))
  return Exit.match(exit, {
    onSuccess: (code) => code,
    onFailure: (cause) =>
      Cause.isInterruptedOnly(cause) ? (ended === undefined ? BROKEN : codeOf(ended)) : complaintOf(cause)
  })
}

const complaintOf = (cause: Cause.Cause<{ readonly message: string }>): ExitCode => {
  const failure = Cause.failureOption(cause)
  process.stderr.write(`sagyo: ${Option.isSome(failure) ? failure.value.message : Cause.pretty(cause)}\n`)
  return Option.isSome(failure) ? WRONG : BROKEN
}
