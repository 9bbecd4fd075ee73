import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { allowedHost, allowedOrigin, basePath, isLoopback, listenHost } from "../../src/config/Network.ts"

const accepts = <A>(
  rule: (value: unknown) => Either.Either<A, string>,
  values: ReadonlyArray<readonly [unknown, A]>
) => {
  for (const [written, read] of values) assert.deepStrictEqual(rule(written), Either.right(read), String(written))
}
const refuses = (rule: (value: unknown) => Either.Either<unknown, string>, values: ReadonlyArray<unknown>) => {
  for (const written of values) assert.isTrue(Either.isLeft(rule(written)), JSON.stringify(written))
}

describe("listenHost", () => {
  it("takes addresses and names, and nothing with a port or a scheme", () => {
    accepts(listenHost, [
      ["127.0.0.1", "127.0.0.1"],
      ["0.0.0.0", "0.0.0.0"],
      ["::1", "::1"],
      ["[::1]", "::1"],
      ["localhost", "localhost"],
      ["sagyo.example.com", "sagyo.example.com"]
    ])
    refuses(listenHost, [
      "",
      " ",
      "*",
      "127.0.0.1:80",
      "http://127.0.0.1",
      "[::1]:80",
      "a/b",
      "a b",
      "-a",
      "a..b",
      0,
      null,
      "a".repeat(300)
    ])
  })
})

describe("isLoopback", () => {
  it("knows what only this machine reaches, and takes any other name for remote", () => {
    for (const host of [
      "127.0.0.1",
      "127.9.9.9",
      "localhost",
      "LOCALHOST",
      "::1",
      "0:0:0:0:0:0:0:1",
      "::ffff:127.0.0.1"
    ])
      assert.isTrue(isLoopback(host), host)
    for (const host of [
      "0.0.0.0",
      "::",
      "192.168.0.1",
      "::ffff:10.0.0.1",
      "fe80::1%lo",
      "example.com",
      "localhost.example.com",
      "127.evil.example",
      "0",
      "127.1",
      "1270.0.0.1"
    ])
      assert.isFalse(isLoopback(host), host)
  })
})

describe("allowedHost", () => {
  it("takes what a Host header holds", () => {
    accepts(allowedHost, [
      ["Sagyo.Example.com", "sagyo.example.com"],
      ["sagyo.example.com:8443", "sagyo.example.com:8443"],
      ["[::1]:80", "[::1]:80"],
      ["10.0.0.1", "10.0.0.1"]
    ])
    refuses(allowedHost, ["", "*", "*.example.com", "https://a", "a/b", "a:99999", "a:", "::1", "[x]", 1, null])
  })
})

describe("allowedOrigin", () => {
  it("takes a scheme, a host and a port, and nothing after", () => {
    accepts(allowedOrigin, [
      ["https://App.example.com", "https://app.example.com"],
      ["http://localhost:6274", "http://localhost:6274"],
      ["https://a.example:443", "https://a.example"],
      ["vscode-webview://abc-def", "vscode-webview://abc-def"]
    ])
    refuses(allowedOrigin, [
      "*",
      "null",
      "app.example.com",
      "https://a/",
      "https://a/b",
      "https://u@a",
      "https://*.a",
      "https://",
      "",
      1
    ])
  })
})

describe("basePath", () => {
  it("takes a path with a slash before and none behind", () => {
    accepts(basePath, [
      ["", ""],
      ["/sagyo", "/sagyo"],
      ["/a/b-1", "/a/b-1"]
    ])
    refuses(basePath, ["/", "sagyo", "/sagyo/", "//a", "/a//b", "/../a", "/.", "/a?b", "/a b", "/日本", null, 1])
  })
})
