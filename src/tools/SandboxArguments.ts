import { lstat, readlink, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { isAbsolute } from "node:path"
import type { GitGuard } from "./GitGuard.ts"
import { secrets, toolchains } from "./Toolchains.ts"
import { isInside, type Workspace } from "./Workspace.ts"

const ROOT_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
const EMPTY = ["/tmp", "/var/tmp", "/run", "/home", "/root", "/dev/shm"]

/** The arguments of `bwrap` before the command: what a command sees and what it may write. Later ones cover earlier ones. */
export const sandboxArguments = async (
  workspace: Workspace,
  guard: GitGuard,
  network: boolean
): Promise<ReadonlyArray<string>> => {
  const home = sandboxHome()
  const readOnly = await toolchains(workspace)
  const hidden = workspace.hidden.filter((folder) => folder !== workspace.root && isInside(workspace.root, folder))
  return [
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"],
    ...(network ? [] : ["--unshare-net"]),
    ...capabilities(),
    ...["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--ro-bind-try", "/nix/store", "/nix/store"],
    ...(await rootFolders()),
    // As root /proc/sys is writable, whatever the capabilities: it is the machine's, not the sandbox's.
    ...[
      "--proc",
      "/proc",
      "--ro-bind-try",
      "/proc/sys",
      "/proc/sys",
      "--ro-bind-try",
      "/proc/sysrq-trigger",
      "/proc/sysrq-trigger"
    ],
    ...["--dev", "/dev"],
    ...EMPTY.flatMap((folder) => ["--tmpfs", folder]),
    ...(EMPTY.includes(home) ? [] : ["--tmpfs", home]),
    ...(network ? await resolver() : []),
    ...readOnly.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...(await secrets()).flatMap((file) => ["--ro-bind-try", "/dev/null", file]),
    ...["--bind", workspace.root, workspace.root],
    ...guard.pinned.flatMap((path) => ["--bind", path, path]),
    ...guard.readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...hidden.flatMap((folder) => ["--tmpfs", folder, "--remount-ro", folder]),
    ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", workspace.root, "--"]
  ]
}

/** The empty home that commands get: at the place of the real one, where toolchains look for themselves. */
export const sandboxHome = (): string => (isAbsolute(homedir()) && homedir() !== "/" ? homedir() : "/tmp")

/** Root keeps only what lets it use a workspace that is another user's: everything else it sees is read-only. */
const capabilities = () =>
  process.getuid?.() === 0
    ? ["--cap-drop", "ALL", ...["CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN"].flatMap((name) => ["--cap-add", name])]
    : ["--cap-drop", "ALL"]

/** Where `/bin` and the like are links into `/usr`, they are links in the sandbox too. */
const rootFolders = async (): Promise<ReadonlyArray<string>> => {
  const found = await Promise.all(
    ROOT_FOLDERS.map(async (folder) => {
      const stats = await lstat(folder).catch(() => null)
      if (stats?.isSymbolicLink()) return ["--symlink", await readlink(folder), folder]
      return stats?.isDirectory() ? ["--ro-bind", folder, folder] : []
    })
  )
  return found.flat()
}

/** `/etc/resolv.conf` often leads into /run, which is covered. */
const resolver = async (): Promise<ReadonlyArray<string>> => {
  const real = await realpath("/etc/resolv.conf").catch(() => null)
  return real === null || isInside("/etc", real) ? [] : ["--ro-bind-try", real, real]
}
