import { constants } from "node:fs"
import { access } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { isInside } from "./Workspace.ts"

/** The folders of PATH that are absolute. A relative one would name programs that the workspace brings along. */
export const pathFolders = (): ReadonlyArray<string> => {
  const folders = (process.env.PATH ?? "").split(":").filter((folder) => isAbsolute(folder))
  return [...new Set(folders.map((folder) => folder.replace(/(?<=.)\/+$/, "")))]
}

/** Where a program is, null where it is not installed. One inside the workspace is nobody's installation. */
export const findProgram = async (name: string, workspace: string): Promise<string | null> => {
  for (const folder of pathFolders()) {
    if (isInside(workspace, folder)) continue
    const path = join(folder, name)
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false
      )
    )
      return path
  }
  return null
}
