import { assert, describe, it } from "@effect/vitest"
import { systemPrompt } from "../../src/agent/Prompt.ts"

describe("systemPrompt", () => {
  const withheld = [{ name: "shell", reason: { ja: "なし", en: "none" } }]

  it("has 1,200 bytes at the most", () => {
    assert.isAtMost(Buffer.byteLength(systemPrompt({ definitions: [], withheld })), 1200)
  })

  it("names a tool that is withheld", () => {
    assert.include(systemPrompt({ definitions: [], withheld }), "Not available here: shell")
    assert.notInclude(systemPrompt({ definitions: [], withheld: [] }), "Not available")
  })
})
