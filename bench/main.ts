import { ScriptedOllama } from "../src/ollama/ScriptedOllama.ts"
import { hang } from "../src/ollama/ScriptedReply.ts"
import { memory } from "./memory.ts"
import { Programs } from "./Programs.ts"
import { prompt } from "./prompt.ts"
import { type Row, table } from "./Row.ts"
import { startup } from "./startup.ts"
import { accept, status } from "./throughput.ts"

/** Measures what is named in `args` (everything, where nothing is) with the bundles in `folder`, and prints a table. */
export const bench = async (folder: string, args: ReadonlyArray<string>): Promise<void> => {
  const { names, rounds, millis, profile } = read(args)
  const programs = new Programs(folder, profile)
  // A model that never answers: one task stays at it, the others wait.
  const ollama = await ScriptedOllama.start([], { otherwise: [hang] })
  const parts: Readonly<Record<string, () => Promise<ReadonlyArray<Row>>>> = {
    start: () => startup(programs, ollama.url, rounds),
    status: () => status(programs, ollama.url, { rounds, millis }),
    accept: () => accept(programs, ollama.url, { rounds, millis }),
    memory: () => memory(programs, ollama.url, Math.ceil(rounds / 2)),
    prompt: () => prompt(programs, ollama)
  }
  const unknown = names.filter((name) => !(name in parts))
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}`)
  try {
    const rows: Array<Row> = []
    for (const [name, part] of Object.entries(parts)) {
      if (names.length > 0 && !names.includes(name)) continue
      process.stderr.write(`${name} …\n`)
      rows.push(...(await part()))
    }
    process.stdout.write(`${table(rows)}\n`)
  } finally {
    await ollama.stop()
  }
}

const read = (args: ReadonlyArray<string>) => {
  const option = (name: string): string | null => {
    const at = args.indexOf(name)
    return at < 0 ? null : (args[at + 1] ?? null)
  }
  const values = ["--rounds", "--seconds", "--profile"]
  return {
    names: args.filter((arg, at) => !arg.startsWith("--") && !values.includes(args[at - 1] ?? "")),
    rounds: Number(option("--rounds") ?? 15),
    millis: Number(option("--seconds") ?? 0.6) * 1000,
    profile: option("--profile")
  }
}
