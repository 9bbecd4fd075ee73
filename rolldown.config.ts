import { defineConfig } from "rolldown"

export default defineConfig({
  input: { main: "src/main.ts" },
  platform: "node",
  external: ["better-sqlite3"],
  output: {
    dir: "dist",
    format: "esm",
    minify: true,
    cleanDir: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js"
  }
})
