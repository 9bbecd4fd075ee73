import { lstat, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, join } from "node:path"
import { pathFolders } from "./Programs.ts"
import { isInside, type Workspace } from "./Workspace.ts"

/** Something outside the workspace that the sandbox shows read-only: `from` on this machine, seen at `to`. */
export interface ReadOnly {
  readonly from: string
  readonly to: string
}

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"]
const PROGRAM_FOLDERS = new Set(["bin", "sbin", "shims"])
const MAX_FOLDERS = 64

// What the programs of a folder need besides it, both relative to home.
const COMPANIONS: Readonly<Record<string, ReadonlyArray<string>>> = {
  ".cargo/bin": [".rustup"],
  ".local/bin": [
    ".local/lib",
    ".local/share/pipx/venvs",
    ".local/pipx/venvs",
    ".local/share/uv/tools",
    ".local/share/uv/python"
  ]
}

/** Folders of home that are never one toolchain, though programs lie in them. */
const NO_TOOLCHAIN = new Set([
  ".local",
  ".local/share",
  ".local/state",
  ".config",
  ".cache",
  ".ssh",
  ".gnupg",
  ".docker"
])

/** Files in toolchains that hold secrets, relative to home. */
const SECRETS = [".cargo/credentials", ".cargo/credentials.toml"]

/** The folders on PATH outside the system's own, with the toolchains that they belong to, and Node's. Outer ones come first. */
export const toolchains = async (workspace: Workspace): Promise<ReadonlyArray<ReadOnly>> => {
  const home = homedir()
  const folders = [
    ...pathFolders().slice(0, MAX_FOLDERS),
    dirname(process.execPath),
    await realpath(process.execPath).then(dirname)
  ]
  const found = new Map<string, string>()
  const show = async (path: string, may: (real: string) => boolean) => {
    const real = await realpath(path).catch(() => null)
    if (real === null || !may(real)) return
    found.set(real, real)
    found.set(path, real)
  }
  for (const folder of folders) {
    if (isUseless(folder)) continue
    await show(folder, (real) => mayBeShown(real, home, workspace))
    const real = await realpath(folder).catch(() => folder)
    for (const path of new Set([folder, real])) {
      if (!PROGRAM_FOLDERS.has(basename(path))) continue
      await show(dirname(path), (whole) => mayBeShown(whole, home, workspace) && isToolchain(whole, home))
    }
    for (const companion of COMPANIONS[real.slice(home.length + 1)] ?? []) {
      await show(join(home, companion), (whole) => mayBeShown(whole, home, workspace))
    }
  }
  return withoutInner([...found].map(([to, from]) => ({ from, to })))
}

/** What a folder that is shown already holds needs no mount of its own; where a link leads is shown under its real name. */
const withoutInner = (all: ReadonlyArray<ReadOnly>): ReadonlyArray<ReadOnly> => {
  const kept: Array<ReadOnly> = []
  for (const one of [...all].sort((one, other) => one.to.length - other.to.length)) {
    const outer = [...SYSTEM, ...kept.map(({ to }) => to)]
    if (!outer.some((folder) => isInside(folder, one.to))) kept.push(one)
  }
  return kept
}

/** Files within the toolchains that are masked. */
export const secrets = async (): Promise<ReadonlyArray<string>> => {
  const paths = SECRETS.map((path) => join(homedir(), path))
  const isThere = (path: string) =>
    lstat(path).then(
      (stats) => stats.isFile(),
      () => false
    )
  const there = await Promise.all(paths.map(isThere))
  return paths.filter((_, index) => there[index])
}

/** Windows programs that WSL puts on PATH would run outside; those that a package runner adds are links to nowhere. */
const isUseless = (path: string) => /^\/mnt\/[a-z](\/|$)/.test(path) || path.endsWith("/node_modules/.bin")

/** Never the root, home, a folder above it or the workspace, nor what is hidden or holds it. */
const mayBeShown = (real: string, home: string, workspace: Workspace): boolean =>
  !isInside(real, home) &&
  !isInside(real, workspace.root) &&
  !isInside(workspace.root, real) &&
  !workspace.hidden.some((folder) => isInside(real, folder) || isInside(folder, real))

const isToolchain = (real: string, home: string): boolean =>
  dirname(real) !== "/" && !(isInside(home, real) && NO_TOOLCHAIN.has(real.slice(home.length + 1)))
