import { dirname, parse } from "node:path"
import { Either } from "effect"
import { fallbackWorkspace } from "./FallbackWorkspace.ts"
import { kindOf, realPath, within } from "./SettingsPath.ts"
import type { Sources } from "./Sources.ts"

/** The folders of this process that an agent must not work in or around; all are real paths. */
export interface KeptFolders {
  readonly dataDir: string
  /** Of the settings file in use, by its name and by where links lead; empty where there is none. */
  readonly configDirs: ReadonlyArray<string>
}

export interface ChosenWorkspace {
  readonly workspace: string
  /** What the log says, where it is not the folder that one might expect. */
  readonly notice: string | null
}

/** The workspace that was asked for: it must be there, and be none of the folders an agent could do harm in. */
export const givenWorkspace = (path: string, kept: KeptFolders, sources: Sources): Either.Either<string, string> => {
  const real = realPath(path)
  const kind = kindOf(real)
  if (kind !== "folder")
    return Either.left(`must be a folder that is there: ${real} ${kind === "file" ? "is a file" : kind}`)
  const danger = dangerOf(real, kept, sources)
  return danger === null ? Either.right(real) : Either.left(`must be a project's folder: ${real} ${danger}`)
}

/** The current folder, or `workspace` in the data folder where that is gone or would be dangerous. Nothing is created. */
export const usualWorkspace = (kept: KeptFolders, sources: Sources): ChosenWorkspace => {
  const current = sources.cwd === null ? null : realPath(sources.cwd)
  const danger = current === null ? "was removed" : dangerOf(current, kept, sources)
  if (current !== null && danger === null) return { workspace: current, notice: null }
  const workspace = fallbackWorkspace(kept.dataDir)
  return {
    workspace,
    notice: `The workspace is ${workspace}, since the current folder ${current ?? ""} ${danger}; set agent.workspace or SAGYO_WORKSPACE to choose one.`
  }
}

const dangerOf = (folder: string, kept: KeptFolders, { home, tmp, platform, env }: Sources): string | null => {
  if (folder === parse(folder).root) return "is the file system's root"
  if (home !== null && within(realPath(home), folder)) return "is your home folder or holds it"
  if ([tmp, "/tmp", "/var/tmp"].some((each) => realPath(each) === folder)) return "is the temporary folder"
  const meets = (other: string) => (within(other, folder) ? "holds" : within(folder, other) ? "lies in" : null)
  const system = systemFolders(platform, env).find((each) => meets(each) !== null)
  if (system !== undefined && !exempt.some((each) => within(folder, each)))
    return `holds or lies in the system folder ${system}`
  const data = meets(kept.dataDir)
  if (data !== null) return `${data} the data folder ${kept.dataDir}`
  const config = kept.configDirs.find((each) => meets(each) !== null)
  return config === undefined
    ? null
    : `${meets(config)} the folder of the settings file ${config} (a settings file elsewhere, named with --config, frees it)`
}

// Links among them (/bin, macOS's /etc) need not be followed: what is asked about is a real path, below where they lead.
const systemFolders = (platform: NodeJS.Platform, env: Sources["env"]): ReadonlyArray<string> => {
  if (platform === "win32") return windowsFolders.flatMap((name) => env[name] ?? [])
  return platform === "darwin" ? [...unixFolders, ...macFolders] : unixFolders
}

const unixFolders =
  "/usr /etc /bin /sbin /lib /lib32 /lib64 /boot /dev /proc /sys /run /var/log /var/cache /var/run /var/spool".split(
    " "
  )
const macFolders =
  "/System /Library /Applications /private/etc /private/var/log /private/var/db /private/var/run".split(" ")
const windowsFolders = ["SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramData"]

/** People's own folders inside those: removable disks, FreeBSD's homes. */
const exempt = ["/run/media", "/usr/home"]

/** The folders of a settings file: where it was named, and where it really lies. */
export const foldersOf = (file: string | null): ReadonlyArray<string> =>
  file === null ? [] : [...new Set([realPath(dirname(file)), dirname(realPath(file))])]

/** Whether others need the folder too, so that it cannot be hidden whole from an agent's commands. */
export const isShared = (folder: string, { home, tmp, platform, env }: Sources): boolean =>
  [...(home === null ? [] : [home]), tmp, "/tmp", "/var/tmp"].some((each) => within(realPath(each), folder)) ||
  systemFolders(platform, env).some((each) => within(each, folder))
