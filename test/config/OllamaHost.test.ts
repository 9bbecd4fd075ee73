import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { ollamaHost } from "../../src/config/OllamaHost.ts"

describe("ollamaHost", () => {
  // F11
  it("reads every form that Ollama's own client reads", () => {
    const cases = [
      ["0.0.0.0:11434", "http://127.0.0.1:11434"],
      ["0.0.0.0", "http://127.0.0.1:11434"],
      ["http://0.0.0.0:8080", "http://127.0.0.1:8080"],
      ["[::]:11434", "http://[::1]:11434"],
      ["::", "http://[::1]:11434"],
      ["localhost:11434", "http://localhost:11434"],
      ["localhost", "http://localhost:11434"],
      ["localhost:", "http://localhost:11434"],
      [":8080", "http://127.0.0.1:8080"],
      ["10.0.0.5", "http://10.0.0.5:11434"],
      ["gpu-box:80", "http://gpu-box"],
      ["http://127.0.0.1:11434/", "http://127.0.0.1:11434"],
      ["http://127.0.0.1:11434//", "http://127.0.0.1:11434"],
      ["HTTP://Example.COM:1234", "http://example.com:1234"],
      ["http://[::1]:11434", "http://[::1]:11434"],
      ["[::1]:11434", "http://[::1]:11434"],
      ["[::1]", "http://[::1]:11434"],
      ["::1", "http://[::1]:11434"],
      ["http://example.com", "http://example.com"],
      ["https://example.com", "https://example.com"],
      ["https://example.com:8443/ollama/", "https://example.com:8443/ollama"],
      ["example.com/ollama", "http://example.com:11434/ollama"],
      [' "127.0.0.1:1234" ', "http://127.0.0.1:1234"]
    ] as const
    for (const [written, url] of cases) assert.deepStrictEqual(ollamaHost(written), Either.right(url), written)
  })

  it("refuses other schemes, paths of an API, ports that are none and what is no address", () => {
    const refused = [
      "ftp://x",
      "unix:///run/ollama.sock",
      "http://",
      "http:///x",
      "http://127.0.0.1:11434/v1",
      "http://127.0.0.1:11434/v1/",
      "http://127.0.0.1:11434/api",
      "h/api/chat",
      "localhost:http",
      "localhost:0",
      "localhost:65536",
      "localhost:-1",
      "a b",
      "http://a?x=1",
      "http://a#x",
      "$" + "{OLLAMA_URL}",
      "$OLLAMA_URL",
      "http://[::1",
      "http://a:1:2",
      ":",
      "\\\\host",
      "",
      11434,
      null,
      true
    ]
    for (const written of refused) {
      const result = ollamaHost(written)
      assert.match(
        Either.isLeft(result) ? result.left : "accepted",
        /^must be the address of an Ollama server \(host, host:port/,
        String(written)
      )
    }
  })

  it("refuses a user name and a password without repeating them", () => {
    for (const written of [
      "http://user:hunter2@127.0.0.1:11434",
      "user:hunter2@host",
      "http://hunter2@host",
      "https://host/x@hunter2"
    ]) {
      const result = ollamaHost(written)
      assert.match(Either.isLeft(result) ? result.left : "accepted", /without a user name/)
      assert.notInclude(JSON.stringify(result), "hunter2")
    }
  })
})
