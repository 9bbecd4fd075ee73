import { isAbsolute, join } from "node:path"
import { Either } from "effect"
import { kindOf, realPath, within } from "./SettingsPath.ts"
import type { Sources } from "./Sources.ts"

/** Where data goes where nobody says so: `$XDG_DATA_HOME/sagyo`, or the platform's own place; null where there is no home folder. */
export const defaultDataDir = ({ env, home, platform }: Sources): string | null => {
  if (env.XDG_DATA_HOME && isAbsolute(env.XDG_DATA_HOME)) return join(env.XDG_DATA_HOME, "sagyo")
  if (platform === "win32" && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, "sagyo")
  if (home === null) return null
  return platform === "darwin"
    ? join(home, "Library", "Application Support", "sagyo")
    : join(home, ".local", "share", "sagyo")
}

/** The real path of a data folder that can be one. Nothing is created. */
export const usableDataDir = (path: string, { home }: Sources): Either.Either<string, string> => {
  const real = realPath(path)
  // It is made private (mode 0700) and kept from the agent, so that it must not be a folder that others need.
  const needed = ["/tmp", "/var/tmp", "/etc", "/usr", ...(home === null ? [] : [join(home, "..")])].map(realPath)
  if (needed.some((folder) => within(folder, real))) return Either.left(`must be a folder of its own, not ${real}`)
  const kind = kindOf(real)
  return kind === "folder" || kind === "does not exist"
    ? Either.right(real)
    : Either.left(`must be a folder: ${real} ${kind === "file" ? "is a file" : kind}`)
}
