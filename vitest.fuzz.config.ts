import { defineConfig } from "vitest/config"

/** The property tests alone; FUZZ_RUNS says how often each property is tried. */
export default defineConfig({
  test: {
    include: ["test/fuzz/*.test.ts"],
    env: { FUZZ_RUNS: process.env.FUZZ_RUNS ?? "10000" },
    fileParallelism: false
  }
})
