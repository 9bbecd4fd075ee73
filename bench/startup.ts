import { type Command, StdioChild } from "./Child.ts"
import type { Programs } from "./Programs.ts"
import { pairs, type Row, rowOf } from "./Row.ts"

/** From the start of the process to its answer to `tools/list`, which waits in the pipe. */
export const startup = async (programs: Programs, ollama: string, rounds: number): Promise<ReadonlyArray<Row>> => {
  const own = programs.own("stdio", ollama)
  const bare = programs.bare("echoStdio")
  for (const command of [own, bare, own, bare]) await timed(command)
  const measured = await pairs(
    rounds,
    () => timed(own),
    () => timed(bare)
  )
  return [rowOf("stdio, start to first `tools/list`", "ms", "≤ 1.5", measured)]
}

const timed = async (command: Command): Promise<number> => {
  const begin = performance.now()
  const child = new StdioChild(command)
  await child.list()
  const millis = performance.now() - begin
  await child.stop()
  return millis
}
