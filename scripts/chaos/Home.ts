import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Settings, data folder and workspace of one round. */
export interface Home {
  readonly folder: string
  readonly config: string
  readonly data: string
  readonly workspace: string
  /** Whether the data folder is a small disk of its own, which can be filled. */
  readonly small: boolean
}

const SIZE = "6m"

export const makeHome = (ollama: string): Home => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sagyo-chaos-")))
  const [settings, data, workspace] = ["settings", "data", "work"].map((name) => join(folder, name)) as [
    string,
    string,
    string
  ]
  for (const each of [settings, data, workspace]) mkdirSync(each)
  const small = succeeds("mount", "-t", "tmpfs", "-o", `size=${SIZE}`, "none", data)
  const config = join(settings, "agent.yaml")
  writeFileSync(
    config,
    JSON.stringify({
      locale: "en",
      data_dir: data,
      ollama: { base_url: ollama, model: "scripted" },
      agent: { workspace },
      tools: { shell: { sandbox: "off" } }
    })
  )
  return { folder, config, data, workspace, small }
}

export const removeHome = (home: Home): void => {
  if (home.small) succeeds("umount", "-l", home.data)
  rmSync(home.folder, { recursive: true, force: true, maxRetries: 3 })
}

/** Fills the disk to its last byte until what is given back is called. */
export const fill = (home: Home): (() => void) => {
  const file = join(home.data, "filler")
  succeeds("dd", "if=/dev/zero", `of=${file}`, "bs=4k") // ends when nothing is left
  return () => rmSync(file, { force: true })
}

const succeeds = (program: string, ...args: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
