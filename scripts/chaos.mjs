// Bundles the program and the harness, and runs the harness: `node scripts/chaos.mjs [--rounds N] [--seed S]`.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "rolldown"
import { loadConfig } from "rolldown/config"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// inside node_modules, so that better-sqlite3 is found
mkdirSync(join(root, "node_modules", ".cache"), { recursive: true })
const folder = mkdtempSync(join(root, "node_modules", ".cache", "chaos-"))

const own = await loadConfig(join(root, "rolldown.config.ts"))
const bundle = (input, dir) =>
  build({ ...own, cwd: root, input, output: { ...own.output, dir: join(folder, dir), minify: dir === "dist" } })

let failed = true
try {
  await bundle(own.input, "dist")
  await bundle({ main: "scripts/chaos.ts" }, "harness")
  for (const file of ["package.json", "agent.yaml"]) copyFileSync(join(root, file), join(folder, file))
  const { chaos } = await import(pathToFileURL(join(folder, "harness", "main.js")).href)
  failed = !(await chaos(join(folder, "dist", "main.js"), process.argv.slice(2)))
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
process.exit(failed ? 1 : 0)
