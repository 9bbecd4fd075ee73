import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Builds the program once, so that tests of the built bundle run what is in the tree; nothing is left in the temporary folder. */
export default function setup(): () => void {
  execFileSync(process.execPath, ["node_modules/rolldown/bin/cli.mjs", "-c"], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, KEEP_CHUNKS: "1" }
  })
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sagyo-tests-")))
  chmodSync(folder, 0o755) // some tests step down to another user
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
