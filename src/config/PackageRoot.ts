import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder of this package, from the bundle (`dist`, `dist/chunks`) and from its source alike; null where it stands alone. */
export const packageRoot = (url: string = import.meta.url): string | null => {
  let folder = dirname(fileURLToPath(url))
  for (let level = 0; level < 4; level++, folder = dirname(folder)) {
    if (isOurs(join(folder, "package.json"))) return folder
  }
  return null
}

// By name: the package.json above a copy of the bundle may be a stranger's.
const isOurs = (file: string): boolean => {
  try {
    return /"name"\s*:\s*"sagyo"/.test(readFileSync(file, "utf8"))
  } catch {
    return false
  }
}
