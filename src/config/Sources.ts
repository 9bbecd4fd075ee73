import { homedir, tmpdir } from "node:os"
import { isAbsolute } from "node:path"
import { packageRoot } from "./PackageRoot.ts"

/** What the command line may say about settings. */
export interface ConfigFlags {
  readonly config?: string
  readonly host?: string
  readonly port?: number
}

/** All that settings are made of, besides the file. */
export interface Sources {
  readonly flags: ConfigFlags
  readonly env: Readonly<Record<string, string | undefined>>
  /** Null where the current folder was removed. */
  readonly cwd: string | null
  /** Null where the user has none. */
  readonly home: string | null
  readonly tmp: string
  readonly platform: NodeJS.Platform
  readonly packageRoot: string | null
}

/** What this process was started with. */
export const processSources = (flags: ConfigFlags): Sources => ({
  flags,
  env: process.env,
  cwd: attempt(process.cwd),
  home: attempt(homedir),
  tmp: tmpdir(),
  platform: process.platform,
  packageRoot: packageRoot()
})

const attempt = (folder: () => string): string | null => {
  try {
    const path = folder()
    return isAbsolute(path) ? path : null
  } catch {
    return null
  }
}
