import { defineConfig } from "rolldown"

export default defineConfig({
  input: { main: "src/main.ts" },
  platform: "node",
  external: ["better-sqlite3"],
  output: {
    dir: "dist",
    format: "esm",
    minify: true,
    // a test run may build while another one runs the program: the chunks of its version must stay
    cleanDir: process.env.KEEP_CHUNKS === undefined,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js"
  }
})
