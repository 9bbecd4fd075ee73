// Bundles the program, the bare servers beside it and the harness, all the same way, and runs the harness.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "rolldown"
import { loadConfig } from "rolldown/config"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// Inside node_modules, so that better-sqlite3 is found; and on the project's disk, so that a commit reaches a disk.
mkdirSync(join(root, "node_modules", ".cache"), { recursive: true })
const folder = mkdtempSync(join(root, "node_modules", ".cache", "bench-"))

// As in an installed package: without it Node has to find out what kind of module each file is.
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))

const own = await loadConfig(join(root, "rolldown.config.ts"))
const bundle = (input, dir, others = {}) =>
  build({ ...own, cwd: root, input, output: { ...own.output, ...others, dir: join(folder, dir) } })

try {
  await bundle(own.input, "sagyo")
  for (const peer of ["echoStdio", "echoHttp", "insertStdio", "insertHttp"]) {
    await bundle({ main: `bench/peers/${peer}.ts` }, peer)
  }
  await bundle({ main: "bench/main.ts" }, "harness", { minify: false })
  const { bench } = await import(pathToFileURL(join(folder, "harness", "main.js")).href)
  await bench(folder, process.argv.slice(2))
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
