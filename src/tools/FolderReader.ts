import { constants, type Dirent } from "node:fs"
import { lstat, open, opendir, readlink } from "node:fs/promises"
import { IgnoreRules } from "./IgnoreRules.ts"
import { isTemporary } from "./ReplaceFile.ts"
import { isVisible, type Place, type Workspace } from "./Workspace.ts"

/** Something in a folder. `path` is relative to the workspace, as the file system has it: names need not be UTF-8. */
export interface Entry {
  readonly name: Buffer
  readonly path: Buffer
  readonly kind: "file" | "folder" | "link" | "other"
}

export interface FolderContent {
  /** Sorted by name. */
  readonly entries: ReadonlyArray<Entry>
  /** What holds for the folders in it. */
  readonly rules: IgnoreRules
  readonly ignored: number
  /** Whether there was more than `limit`. */
  readonly more: boolean
}

const MAX_IGNORE_BYTES = 256 * 1024
const SLASH = Buffer.from("/")

export const absolute = (workspace: Workspace, path: Buffer): Buffer =>
  path.length === 0 ? Buffer.from(workspace.root) : Buffer.concat([Buffer.from(workspace.root), SLASH, path])

/** The rules that hold in the folder that holds `place`. */
export const rulesAbove = async (workspace: Workspace, place: Place): Promise<IgnoreRules> => {
  const parts = place.shown === "." ? [] : place.shown.split("/")
  let rules = IgnoreRules.none
  for (let depth = 0; depth < parts.length; depth++) {
    rules = await withRulesOf(workspace, parts.slice(0, depth).join("/"), rules)
  }
  return rules
}

/** What is in a folder (`path` is empty for the root) and neither ignored nor hidden. No link is followed. */
export const readFolder = async (
  workspace: Workspace,
  path: Buffer,
  above: IgnoreRules,
  limit: number
): Promise<FolderContent> => {
  const rules = await withRulesOf(workspace, path.toString("utf8"), above)
  const entries: Array<Entry> = []
  let [ignored, more] = [0, false]
  // Node's types know no folder of buffers, though Node has it.
  const folder = await opendir(absolute(workspace, path), { encoding: "buffer" as BufferEncoding, bufferSize: 256 })
  for await (const found of folder as unknown as AsyncIterable<Dirent<Buffer>>) {
    const entry = {
      name: found.name,
      path: path.length === 0 ? found.name : Buffer.concat([path, SLASH, found.name]),
      kind: kindOf(found)
    }
    const name = found.name.toString("utf8")
    const shown = entry.path.toString("utf8")
    if (name === ".git" || isTemporary(name) || !isVisible(workspace, `${workspace.root}/${shown}`)) continue
    if (rules.leavesOut(shown, entry.kind === "folder")) {
      ignored++
      continue
    }
    if (entries.length >= limit) {
      more = true
      break
    }
    entries.push(entry)
  }
  return { entries: entries.sort((one, other) => Buffer.compare(one.name, other.name)), rules, ignored, more }
}

export const linkTarget = (workspace: Workspace, entry: Entry): Promise<Buffer> =>
  readlink(absolute(workspace, entry.path), "buffer")

const kindOf = (entry: Dirent<Buffer>): Entry["kind"] =>
  entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "other"

const withRulesOf = async (workspace: Workspace, folder: string, rules: IgnoreRules): Promise<IgnoreRules> => {
  const names = folder === "" ? [".git/info/exclude", ".gitignore"] : [`${folder}/.gitignore`]
  const contents = await Promise.all(names.map((name) => readRules(`${workspace.root}/${name}`)))
  return contents.reduce((all, content) => (content === "" ? all : all.with(folder, content)), rules)
}

/** Empty where there is none, or none that is a plain small file. */
const readRules = async (path: string): Promise<string> => {
  const stats = await lstat(path).catch(() => null)
  if (!stats?.isFile() || stats.size > MAX_IGNORE_BYTES) return ""
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null)
  return file === null ? "" : file.readFile("utf8").finally(() => file.close())
}
