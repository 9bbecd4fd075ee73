import { defineConfig } from "vitest/config"

const missing = ["OLLAMA_HOST", "SAGYO_MODEL"].filter((name) => !process.env[name])
if (missing.length > 0) {
  throw new Error(
    `${missing.join(" and ")} must be set: these tests ask a real Ollama, with a model that has tools and calls read_file when told to "Read the file NAME"`
  )
}

/** Tests against a real server; the ordinary run never includes them. */
export default defineConfig({
  test: {
    include: ["test/**/*.real.ts"],
    globalSetup: "test/support/build.ts",
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000
  }
})
