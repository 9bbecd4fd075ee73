import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "rolldown"
import { descriptorSink, fileSink } from "../../src/log/LogSink.ts"

const folder = mkdtempSync(join(tmpdir(), "sagyo-sink-"))
const bundle = join(folder, "sink.mjs")

beforeAll(async () => {
  await build({ input: "src/log/LogSink.ts", platform: "node", output: { file: bundle, format: "esm" } })
  return () => rmSync(folder, { recursive: true, force: true })
})

/** Writes 1,000 entries of 1,000 characters at each of 20 turns of the event loop; then says how it went. */
const writer = `
  import { stderrSink } from ${JSON.stringify(bundle)}
  const sink = stderrSink()
  let turns = 0
  const turn = () => {
    for (let i = 0; i < 1000; i++) sink.write("x".repeat(999) + "\\n")
    if (++turns < 20) return setImmediate(turn)
    process.stdout.write(String(process.stderr.writableLength), () => process.exit(0))
  }
  turn()
`

const run = (stderr: "pipe" | number, onStart?: (child: ReturnType<typeof spawn>) => void) =>
  Effect.promise(async () => {
    const program = join(folder, "writer.mjs")
    writeFileSync(program, writer)
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", stderr] })
    onStart?.(child)
    let out = ""
    child.stdout?.on("data", (chunk) => {
      out += chunk
    })
    const [code] = await once(child, "close")
    return { code, waiting: out === "" ? Number.NaN : Number(out) }
  })

describe("stderrSink", () => {
  it.live("neither waits nor grows where nobody reads", () =>
    Effect.gen(function* () {
      const { code, waiting } = yield* run("pipe", (child) => {
        child.stderr?.pause()
        child.once("exit", () => child.stderr?.destroy())
      })
      assert.strictEqual(code, 0)
      assert.isAbove(waiting, 0)
      assert.isBelow(waiting, 300_000)
    })
  )

  it.live("goes on without a reader", () =>
    Effect.gen(function* () {
      const { code } = yield* run("pipe", (child) => child.stderr?.destroy())
      assert.strictEqual(code, 0)
    })
  )

  it.live("goes on where the disk is full, and writes whole lines to a file", () =>
    Effect.gen(function* () {
      const full = openSync("/dev/full", "w")
      assert.strictEqual((yield* run(full)).code, 0)
      closeSync(full)
      const path = join(folder, "stderr.log")
      const file = openSync(path, "w")
      assert.strictEqual((yield* run(file)).code, 0)
      closeSync(file)
      assert.strictEqual(readFileSync(path, "utf8"), `${"x".repeat(999)}\n`.repeat(20_000))
    })
  )
})

describe("descriptorSink", () => {
  it("loses entries while there is no room, then says how many, and never tears a line apart for a reader", () => {
    const path = join(folder, "fifo")
    execFileSync("mkfifo", [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    const sink = descriptorSink(fd)
    for (let index = 0; index < 100; index++) sink.write(`${JSON.stringify({ index, words: "x".repeat(5000) })}\n`)
    const filled = drain(reader)
    sink.write(`${JSON.stringify({ index: "after" })}\n`)
    const rest = drain(reader)
    closeSync(fd)
    closeSync(reader)
    const lines = (filled + rest).split("\n").filter((line) => line !== "")
    const whole = lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line))
    assert.isAbove(whole.length, 10)
    const [loss, after] = whole.slice(-2)
    assert.strictEqual(after.index, "after")
    const written = whole.filter((entry) => typeof entry.index === "number").length
    assert.strictEqual(
      loss.message,
      `${100 - written} log entries before this one were lost: they could not be written`
    )
  })
})

const drain = (fd: number): string => {
  const chunk = Buffer.alloc(65_536)
  let text = ""
  try {
    for (let length = 1; length > 0; ) {
      length = readSync(fd, chunk, 0, chunk.length, null)
      text += chunk.toString("utf8", 0, length)
    }
  } catch {
    return text
  }
  return text
}

describe("fileSink", () => {
  it.scoped("refuses a named pipe without waiting for its reader, and takes /dev/null", () =>
    Effect.gen(function* () {
      const path = join(folder, "pipe")
      execFileSync("mkfifo", [path])
      assert.match(yield* Effect.flip(fileSink(path)), /cannot be written/)
      const sink = yield* fileSink("/dev/null")
      sink.write("x\n")
    })
  )
})
