import { assert, describe, it } from "@effect/vitest"
import { Cause, FiberId, FiberRefs, HashMap, List, type Logger, LogLevel, Schema } from "effect"
import { entryLine } from "../../src/log/LogEntry.ts"

const line = (
  message: unknown,
  change: Partial<Logger.Logger.Options<unknown>> = {},
  secrets: ReadonlyArray<string> = []
) =>
  entryLine(
    {
      fiberId: FiberId.none,
      logLevel: LogLevel.Info,
      message,
      cause: Cause.empty,
      context: FiberRefs.empty(),
      spans: List.empty(),
      annotations: HashMap.empty(),
      date: new Date(0),
      ...change
    },
    secrets
  )
const entry = (...parameters: Parameters<typeof line>): Record<string, unknown> => JSON.parse(line(...parameters))

class Broken extends Schema.TaggedError<Broken>()("Broken", { reason: Schema.String, token: Schema.String }) {}

describe("entryLine", () => {
  it("has time, level and message, and what else there is", () => {
    assert.strictEqual(line(["hello"]), '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"hello"}\n')
    assert.deepStrictEqual(entry(["a", 1, ["b"], "c", { x: 1 }, { y: 2 }]), {
      time: "1970-01-01T00:00:00.000Z",
      level: "info",
      message: 'a 1 ["b"] c',
      annotations: { x: 1, y: 2 }
    })
  })

  it("has the text of the cause", () => {
    const { cause } = entry(["failed"], {
      cause: Cause.fail(new Error("the reason", { cause: new Error("the root") }))
    })
    assert.match(String(cause), /the reason/)
    assert.match(String(cause), /the root/)
  })

  it("shows a tagged error with its fields", () => {
    const { message } = entry(["failed", new Broken({ reason: "disk", token: "abc" })])
    assert.match(String(message), /^failed \{"name":"Broken","message":.*"reason":"disk","token":"\[hidden\]"\}$/)
  })

  it("is one line without a control character, whatever it is given", () => {
    const hostile = "a\nb\r\u001b[31mc\u0000\u007f\u009b\u2028\u2029\u202e\ud800"
    const written = line([hostile, { [hostile]: hostile }], {
      annotations: HashMap.make([hostile, hostile]),
      cause: Cause.fail(hostile)
    })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.match(written, /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]*\n$/)
    assert.strictEqual(JSON.parse(written).message, hostile)
  })

  it("cuts what is long, deep, wide or circular", () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const words = "word ".repeat(10_000)
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, words]))
    for (const value of [
      words,
      circle,
      wide,
      Array(100_000).fill(words),
      new Uint8Array(1e7),
      [words, words, words, words, words, words]
    ]) {
      assert.isBelow(line(["x", { value }]).length, 80_000)
      assert.isBelow(line([value]).length, 80_000)
    }
    assert.match(String(entry([words]).message), /\.\.\. \(50000 characters\)$/)
    assert.isBelow(String(entry([words]).message).length, 8300)
  })

  it("writes something where a value cannot be read", () => {
    const angry = {
      get boom() {
        throw new Error("no")
      }
    }
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no")
        }
      }
    )
    for (const value of [angry, proxy, 10n, Symbol("s"), () => 1, Number.NaN, undefined, new Date(Number.NaN)]) {
      assert.strictEqual(entry(["x", { value }]).level, "info", typeof value)
    }
  })

  it("never has secrets, image data or what stands under their names", () => {
    const image = "iVBORw0KGgo".repeat(200)
    const written = line(
      [
        "Authorization: Bearer hunter2hunter2 and https://me:hunter2@host/x and /login?code=hunter2&x=1",
        {
          authorization: "hunter2",
          nested: [{ data_base64: image, Token: "hunter2", dataBase64: image }],
          body: `{"images":["${image}"]}`,
          url: `data:image/png;base64,${image}`
        },
        { set_cookie: "hunter2", apiKey: "hunter2", text: '{"data_base64":"aGVsbG8gd29ybGQ="}' }
      ],
      { annotations: HashMap.make(["password", "hunter2"]), cause: Cause.fail(new Error("with known-secret")) },
      ["known-secret"]
    )
    for (const secret of ["hunter2", image.slice(0, 40), "aGVsbG8", "known-secret"]) assert.notInclude(written, secret)
  })

  it("keeps counts of tokens, ids and paths", () => {
    const fields = {
      token_usage: 12,
      max_tokens: 5,
      tokens_file: "/a/tokens",
      task: "9ab4a40b-86fe-432a-904f-8e429c01ea8b",
      url: "http://127.0.0.1:3939/mcp",
      path: `/${"folder/".repeat(20)}x`
    }
    assert.deepStrictEqual(entry(["x", fields]).annotations, fields)
  })

  it("does not leave half a secret where a text is cut", () => {
    const secret = "0123456789abcdefghij"
    for (const before of [8170, 8180, 8190, 8191]) {
      assert.notInclude(line([`${"w ".repeat(before / 2)}${secret} end`], {}, [secret]), "0123")
    }
  })
})
