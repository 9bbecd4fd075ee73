import { assert, describe, it } from "@effect/vitest"
import * as yaml from "yaml"
import { defaults, readConfig } from "../../src/config/ConfigReader.ts"

const read = (text: string) => readConfig(yaml, { file: "agent.yaml", text })
const problems = (text: string) => read(text).problems

describe("readConfig", () => {
  it("takes the defaults where a file says nothing", () => {
    for (const text of ["", "\n", "# only words\n", "---\n", "{}", "ollama:\n", "ollama:\n  # model: x\nlog:\n"]) {
      assert.deepStrictEqual(problems(text), [], text)
      assert.deepStrictEqual(read(text).values, defaults(), text)
    }
  })

  it("reads Windows line ends, a file without a last line end, flow maps and quotes alike", () => {
    assert.strictEqual(read("ollama:\r\n  model: m\r\n  num_ctx: 4096").values.ollama.model, "m")
    assert.strictEqual(read("ollama: { model: 'm', num_ctx: 4096 }").values.ollama.num_ctx, 4096)
  })

  // F03
  it("says that tabs cannot indent, with their line", () => {
    assert.deepStrictEqual(problems("ollama:\n\tbase_url: http://127.0.0.1:11434\n"), [
      "agent.yaml:2:1: tabs cannot indent: use spaces"
    ])
    assert.deepStrictEqual(problems('ollama:\n  model: "a:"\n \tthink: auto\n'), [
      "agent.yaml:3:2: tabs cannot indent: use spaces"
    ])
  })

  // F04
  it("never takes another word for a boolean", () => {
    for (const word of ["off", "'false'", "n", "no", "yes", "on", "0", "1", '"true"']) {
      const [problem] = problems(`tools:\n  shell:\n    enabled: ${word}\n`)
      assert.match(problem ?? "", /^agent\.yaml:3:14: tools\.shell\.enabled: must be true or false, not /, word)
    }
    assert.strictEqual(read("ollama:\n  model: no\n").values.ollama.model, "no")
    assert.strictEqual(read("agent: { planning: off }\nlog: { level: off }").values.agent.planning, "off")
  })

  // F05
  it("refuses a bare ~ and an empty value with the way out, and takes a written null where that is the default", () => {
    assert.match(
      problems("agent:\n  workspace: ~\n")[0] ?? "",
      /^agent\.yaml:2:14: agent\.workspace: a bare ~ is null in YAML, .*quotes/
    )
    assert.match(problems("agent:\n  workspace:\n")[0] ?? "", /^agent\.yaml:2:13: agent\.workspace: is empty/)
    assert.match(problems("agent:\n  workspace: # none\n")[0] ?? "", /agent\.workspace: is empty/)
    assert.deepStrictEqual(problems("ollama: { model }"), [
      "agent.yaml:1:16: ollama.model: is empty: give it a value, write null where the default is null, or remove the key"
    ])
    assert.match(
      problems("tools:\n  rules:\n    -\n").join(),
      /^agent\.yaml:3:6: tools\.rules\[0\]: is empty[^:]*:[^:]*$/
    )
    assert.match(
      problems("tools: { shell: { env: [~] } }").join(),
      /^agent\.yaml:1:25: tools\.shell\.env\[0\]: a bare ~ is null/
    )
    assert.match(problems("ollama:\n  model: null\n")[0] ?? "", /ollama\.model: must be the name of a model/)
    assert.match(problems("ollama: null\n")[0] ?? "", /ollama: must be a section/)
    assert.deepStrictEqual(problems("agent: { workspace: null }\nollama: { temperature: Null, base_url: NULL }\n"), [])
  })

  it("names an unknown key and the nearest known one", () => {
    const cases = [
      ["ollma:\n  model: m\n", '1:1: ollma: unknown key; did you mean "ollama"?'],
      ["ollama:\n  base_ulr: x\n", '2:3: ollama.base_ulr: unknown key; did you mean "base_url"?'],
      ["ollama:\n  baseUrl: x\n", '2:3: ollama.baseUrl: unknown key; did you mean "base_url"?'],
      ["ollama:\n  'model ': x\n", '2:3: ollama."model ": unknown key; did you mean "model"?'],
      ["ollama:\n  ｍｏｄｅｌ: x\n", '2:3: ollama."ｍｏｄｅｌ": unknown key; did you mean "model"?'],
      [
        "ollama:\nmodel: x\n",
        `2:1: model: unknown key; did you mean "ollama.model" (a section's keys stand below it, indented)?`
      ],
      [
        "ollama.model: x\n",
        `1:1: "ollama.model": unknown key; did you mean "ollama.model" (a section's keys stand below it, indented)?`
      ],
      [
        "shell:\n  enabled: false\n",
        `1:1: shell: unknown key; did you mean "tools.shell" (a section's keys stand below it, indented)?`
      ],
      ["log: { zzzzzzzz: 1 }\n", "1:8: log.zzzzzzzz: unknown key; known here: level, file"],
      [
        "__proto__: { locale: en }\n",
        "1:1: __proto__: unknown key; known here: locale, data_dir, ollama, agent, tools, mcp, store, log, audit"
      ],
      [
        "<<: { locale: en }\n",
        '1:1: "<<": unknown key; known here: locale, data_dir, ollama, agent, tools, mcp, store, log, audit'
      ],
      [
        "tools: { rules: [{ tool: shell, acton: deny }] }\n",
        '1:33: tools.rules[0].acton: unknown key; did you mean "action"?'
      ]
    ] as const
    for (const [text, expected] of cases) assert.include(problems(text), `agent.yaml:${expected}`, text)
  })

  it("refuses a key that is given twice, at any depth, with both places", () => {
    assert.deepStrictEqual(problems("locale: ja\nlocale: en\n"), [
      "agent.yaml:2:1: locale: is given twice, first at 1:1"
    ])
    assert.match(problems("ollama: { model: ~, model: m }").join("\n"), /a bare ~.*\n.*is given twice/)
    assert.deepStrictEqual(problems("mcp:\n  http:\n    port: 1\n    port: 2\n"), [
      "agent.yaml:4:5: mcp.http.port: is given twice, first at 3:5"
    ])
    assert.deepStrictEqual(problems('log: { level: info, "level": warn }\n'), [
      "agent.yaml:1:21: log.level: is given twice, first at 1:8"
    ])
  })

  it("refuses another shape than the key has", () => {
    const cases = [
      ["ollama: m", "ollama: must be a section"],
      ["ollama: [model]", "ollama: must be a section"],
      ["tools: { rules: { tool: shell } }", "tools.rules: must be a list"],
      ["tools: { rules: [shell] }", "tools.rules[0]: must be a section"],
      ["tools: { rules: [{ tool: shell }] }", "tools.rules[0].action: must be given"],
      ["tools: { rules: [{ tool: shel, action: deny }] }", "tools.rules[0].tool: must be read_file, list_files"],
      [
        "tools: { rules: [{ tool: shell, path: x, action: deny }] }",
        "tools.rules[0].path: must not stand where tool is shell"
      ],
      [
        "tools: { rules: [{ tool: read_file, command: x, action: deny }] }",
        "tools.rules[0].command: must stand only where tool is shell"
      ],
      [
        "tools: { rules: [{ tool: '*', command: ls, path: x, action: deny }] }",
        "tools.rules[0].path: must not stand beside command"
      ],
      [
        "tools: { rules: [{ tool: shell, command: 'a && b', action: deny }] }",
        "tools.rules[0].command: must be the first words"
      ],
      [
        "tools: { rules: [{ tool: edit_file, path: ../x, action: deny }] }",
        "tools.rules[0].path: must be a pattern of paths"
      ],
      [
        "tools: { rules: [{ tool: edit_file, path: './src', action: deny }] }",
        "tools.rules[0].path: must be a pattern of paths"
      ],
      [
        "tools: { rules: [{ tool: edit_file, path: '!src', action: deny }] }",
        "tools.rules[0].path: must be a pattern of paths"
      ],
      ["tools: { shell: { env: PATH } }", "tools.shell.env: must be a list"],
      ["tools: { shell: { env: [PATH=x] } }", "tools.shell.env[0]: must be the name of an environment variable"],
      ["ollama: { model: [a] }", "ollama.model: must be the name of a model"],
      ["ollama: { model: { a: 1 } }", "ollama.model: must be the name of a model"],
      ["ollama: { model: 8 }", "ollama.model: must be the name of a model, such as qwen3:8b: put quotes around 8"],
      ["ollama: { model: '' }", "ollama.model: must be the name of a model"],
      ["ollama:\n  model: $" + "{M}", "ollama.model: must be the name of a model"],
      ["locale: fr", 'locale: must be ja or en, not "fr"'],
      ["locale: JA", "locale: must be ja or en"],
      [
        "mcp: { ignored_arguments: [request] }",
        "mcp.ignored_arguments[0]: must be a property that sagyo's tools do not have themselves"
      ],
      ["- a\n- b", "must be a section"],
      ["just words", "must be a section"]
    ] as const
    for (const [text, expected] of cases) assert.include(problems(text).join("\n"), expected, text)
  })

  it("refuses numbers that are none, out of bounds or of two meanings", () => {
    for (const written of [
      ".inf",
      "-.inf",
      ".nan",
      "NaN",
      "1e999",
      "99999999999999999999",
      "-1",
      "0",
      "511",
      "512.5",
      "1_000",
      "'4096'",
      "2026-01-01",
      "4096 tokens"
    ]) {
      assert.match(
        problems(`ollama: { num_ctx: ${written} }`)[0] ?? "",
        /ollama\.num_ctx: must be a whole number from 512 to/,
        written
      )
    }
    assert.match(problems("mcp: { http: { port: 0755 } }")[0] ?? "", /mcp\.http\.port: must not begin with a zero/)
    for (const written of ["-1", "65536", "80.5", "true", "'80'"]) {
      assert.match(
        problems(`mcp: { http: { port: ${written} } }`)[0] ?? "",
        /must be a whole number from 0 to 65535/,
        written
      )
    }
    for (const written of ["-0.1", "2.1", ".nan", ".inf", "hot"]) {
      assert.match(
        problems(`ollama: { temperature: ${written} }`)[0] ?? "",
        /must be null or a number from 0 to 2/,
        written
      )
    }
    assert.match(problems("agent: { max_turns: 0 }")[0] ?? "", /must be a whole number from 1 to/)
    assert.strictEqual(read("ollama: { num_ctx: 8e3 }").values.ollama.num_ctx, 8000)
    assert.strictEqual(read("mcp: { http: { port: 0x1F90 } }").values.mcp.http.port, 8080)
  })

  it("refuses anchors, aliases and tags, and does not let them grow", () => {
    assert.match(problems("ollama: &a { model: m }")[0] ?? "", /ollama: must have no anchor/)
    assert.include(problems("ollama: &a { model: m }\nagent: *a").join("\n"), "agent: must not be an alias")
    assert.match(problems("ollama: { model: !!str 5 }")[0] ?? "", /ollama\.model: must have no tag/)
    assert.match(problems("ollama: !!js/function x")[0] ?? "", /ollama: must have no tag/)
    const bomb = [
      "a: &a [x, x]",
      ..."bcdefghijklmnop"
        .split("")
        .map((name, index) => `${name}: &${name} [*${"abcdefghijklmno"[index]}, *${"abcdefghijklmno"[index]}]`)
    ]
    assert.isAbove(problems(bomb.join("\n")).length, 10)
  })

  it("refuses several documents, other versions, control characters and what is not YAML", () => {
    const cases = [
      ["locale: ja\n---\nlocale: en\n", /^agent\.yaml:2:1: must be one document/],
      ["%YAML 1.1\n---\nlocale: ja\n", /must be YAML 1\.2/],
      ["locale: ja\u0007\n", /^agent\.yaml:1:11: must have no control characters/],
      ["ollama:\n  model: m\n think: auto\n", /^agent\.yaml:3:\d+: is not YAML that can be read/],
      ["log: { level: info\n", /^agent\.yaml:\d+:\d+: is not YAML that can be read/],
      ["a: b: c\n", /^agent\.yaml:1:\d+: is not YAML that can be read/],
      ['locale: "ja\n', /is not YAML that can be read/]
    ] as const
    for (const [text, expected] of cases) assert.match(problems(text)[0] ?? "none", expected, text)
  })

  it("reports everything at once, in the order of the file", () => {
    const found = problems(
      "locale: fr\nlocle: ja\nollama:\n  model: ~\n  temperature: 3\n  num_ctx: 1\nlog: { level: loud }\nlog: {}\n"
    )
    assert.deepStrictEqual(
      found.map((line) => line.split(": ").slice(0, 2).join(": ")),
      [
        "agent.yaml:1:9: locale",
        "agent.yaml:2:1: locle",
        "agent.yaml:4:10: ollama.model",
        "agent.yaml:5:16: ollama.temperature",
        "agent.yaml:6:12: ollama.num_ctx",
        "agent.yaml:7:15: log.level",
        "agent.yaml:8:1: log"
      ]
    )
  })

  it("keeps each problem on one line, whatever the file says", () => {
    const found = problems(`"a\\nb\\u001b[31m": 1\nlocale: "x\\ny\\u2028z"\nlog: { level: ${"x".repeat(5000)} }`)
    assert.strictEqual(found.length, 3)
    for (const line of found) assert.match(line, /^[ -~]{1,300}$/)
  })
})

describe("a hostile file", () => {
  const hostile: ReadonlyArray<readonly [string, string]> = [
    ["deep lists", "[".repeat(65_000)],
    ["deep closed lists", "[".repeat(30_000) + "]".repeat(30_000)],
    ["deep maps", "{a: ".repeat(16_000)],
    ["deep sections", Array.from({ length: 350 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
    ["many keys", Array.from({ length: 5_000 }, (_, index) => `key${index}: 1`).join("\n")],
    ["one key, often", "locale: ja\n".repeat(5_000)],
    ["a long key", `${"k".repeat(60_000)}: 1`],
    ["a long scalar", `locale: ${"x".repeat(65_000)}`],
    ["many questions", "? ".repeat(30_000)],
    ["many dashes", "- ".repeat(30_000)],
    ["many quotes", '"'.repeat(65_000)],
    ["many anchors", "&a ".repeat(20_000)],
    ["many documents", "---\n".repeat(16_000)],
    ["many comments", "# x\n".repeat(16_000)]
  ]
  it("may be nested only as deeply as settings are", () => {
    for (const text of [
      `${"[".repeat(100)}${"]".repeat(100)}`,
      "- ".repeat(100),
      "? ".repeat(100),
      `a: ${"{b: ".repeat(50)}${"}".repeat(50)}`
    ]) {
      assert.deepStrictEqual(problems(text), ["agent.yaml:1:1: is nested too deeply"])
    }
  })

  for (const [name, text] of hostile) {
    it(`with ${name} gets an answer of reasonable length`, () => {
      const found = problems(text)
      assert.isAtMost(found.join("\n").length, 50_000)
      if (name !== "many comments") assert.isAbove(found.length, 0)
    })
  }
})
