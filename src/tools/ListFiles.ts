import { lstat } from "node:fs/promises"
import { Effect } from "effect"
import { fileError } from "./FileError.ts"
import { type Entry, linkTarget, readFolder, rulesAbove } from "./FolderReader.ts"
import type { IgnoreRules } from "./IgnoreRules.ts"
import { withNearest } from "./NearestName.ts"
import { optional, text } from "./Parameters.ts"
import { shownName } from "./PlainText.ts"
import { done, makeTool, type ToolContext } from "./Tool.ts"
import { locate, type Place, type Workspace } from "./Workspace.ts"

const MAX_ENTRIES = 200
const MAX_DEPTH = 32

export const ListFiles = makeTool({
  name: "list_files",
  description: "Show a folder as a tree; .gitignore is honoured.",
  parameters: { path: optional(text("Folder; default: the whole workspace")) },
  dangerous: false,
  subject: ["path"],
  path: (args) => args.path?.trim() || ".",
  run: (args, context) => list(args.path?.trim() || ".", context)
})

const list = Effect.fn("ListFiles.run")(function* (path: string, context: ToolContext) {
  const place = yield* locate(context.workspace, path)
  const attempt = <A>(work: () => Promise<A>) =>
    Effect.tryPromise({ try: work, catch: (cause) => fileError(cause, place.shown) }).pipe(
      withNearest(context.workspace, place)
    )
  const stats = yield* attempt(() => lstat(place.real))
  if (!stats.isDirectory()) return done(`${shownName(place.shown)} is a file of ${stats.size} bytes.`)
  const tree = yield* attempt(() => grow(context.workspace, place, context.budget - 400))
  if (tree.problem !== "") return yield* fileError(Object.assign(new Error(), { code: tree.problem }), place.shown)
  const lines = draw(tree, "")
  if (lines.length === 0) lines.push(`${shownName(place.shown)} is empty.`)
  const notes = [
    ...(tree.state.ignored > 0 ? [`[${tree.state.ignored} entries that .gitignore names are left out]`] : []),
    ...(tree.state.closed > 0 ? ["[… marks folders that are not shown whole: list them by their path]"] : [])
  ]
  return done([...lines, ...notes].join("\n"))
})

interface Branch {
  readonly label: string
  readonly entry: Entry | null
  readonly depth: number
  children: ReadonlyArray<Branch>
  /** Why what is in it is not shown. */
  problem: string
  more: boolean
}

interface State {
  ignored: number
  closed: number
}

/** Folder by folder from the top, so that where there is no room for all, the upper levels are whole. */
const grow = async (
  workspace: Workspace,
  place: Place,
  budget: number
): Promise<Branch & { readonly state: State }> => {
  const state = { ignored: 0, closed: 0 }
  const top = { label: "", entry: null, depth: 0, children: [], problem: "", more: false, state }
  const start = place.shown === "." ? Buffer.alloc(0) : Buffer.from(place.shown)
  const open: Array<{ branch: Branch; path: Buffer; rules: IgnoreRules }> = [
    { branch: top, path: start, rules: await rulesAbove(workspace, place) }
  ]
  let used = 0
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { branch, path, rules } = next
    if (branch !== top && (used >= budget || branch.depth > MAX_DEPTH || branch.label === "node_modules/")) {
      branch.more = true
      state.closed++
      continue
    }
    const content = await readFolder(workspace, path, rules, MAX_ENTRIES).catch((cause: NodeJS.ErrnoException) => {
      branch.problem = cause.code ?? "unreadable"
      return null
    })
    if (content === null) continue
    const children = await Promise.all(content.entries.map((entry) => sprout(workspace, entry, branch.depth + 1)))
    branch.children = children
    branch.more = content.more
    state.ignored += content.ignored
    state.closed += content.more ? 1 : 0
    for (const child of children) {
      used += child.label.length + 2 * branch.depth + 1
      if (child.entry?.kind === "folder") open.push({ branch: child, path: child.entry.path, rules: content.rules })
    }
  }
  return top
}

const sprout = async (workspace: Workspace, entry: Entry, depth: number): Promise<Branch> => {
  const name = shownName(entry.name)
  const target = entry.kind === "link" ? await linkTarget(workspace, entry).catch(() => Buffer.from("?")) : null
  const special = entry.kind === "other" ? " (not a regular file)" : ""
  const label = target ? `${name} -> ${shownName(target)}` : `${name}${entry.kind === "folder" ? "/" : special}`
  return { label, entry, depth, children: [], problem: "", more: false }
}

const draw = (branch: Branch, indent: string): Array<string> => {
  const lines = branch.children.flatMap((child) => {
    const mark = child.problem !== "" ? ` (${child.problem})` : child.more && child.children.length === 0 ? " …" : ""
    return [`${indent}${child.label}${mark}`, ...draw(child, `${indent}  `)]
  })
  return branch.more && branch.children.length > 0 ? [...lines, `${indent}…`] : lines
}
