import { execFileSync } from "node:child_process"

/** Builds the program once, so that tests of the built bundle run what is in the tree. */
export default function setup(): void {
  execFileSync(process.execPath, ["node_modules/rolldown/bin/cli.mjs", "-c"], {
    stdio: ["ignore", "ignore", "inherit"]
  })
}
