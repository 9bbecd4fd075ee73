import { dirname, join } from "node:path"
import { Either } from "effect"
import type { ConfigPath } from "./ConfigTree.ts"
import { defaultDataDir, usableDataDir } from "./DataDir.ts"
import type { Reading } from "./Reading.ts"
import { absolute, kindOf, path as pathRule, realPath } from "./SettingsPath.ts"
import type { Sources } from "./Sources.ts"
import { foldersOf, givenWorkspace, isShared, type KeptFolders, usualWorkspace } from "./WorkspaceRule.ts"

/** The folders and files of the settings; all are absolute, the folders real paths. */
export interface Folders {
  readonly dataDir: string
  readonly workspace: string
  readonly hidden: ReadonlyArray<string>
  readonly tokensFile: string | null
  readonly logFile: string | null
  readonly auditFile: string
  readonly notices: ReadonlyArray<string>
}

export const chooseFolders = (reading: Reading): Folders => {
  const { sources, file, report } = reading
  const { values, problemAt } = reading.config
  const dataDir =
    chosen(reading, "SAGYO_DATA_DIR", ["data_dir"], values.data_dir, (path) => usableDataDir(path, sources)) ??
    usualDataDir(reading)
  const kept: KeptFolders = { dataDir, configDirs: foldersOf(file) }
  const workspace = chosen(reading, "SAGYO_WORKSPACE", ["agent", "workspace"], values.agent.workspace, (path) =>
    givenWorkspace(path, kept, sources)
  )
  const usual = workspace === null ? usualWorkspace(kept, sources) : { workspace, notice: null }
  const logFile = ownFile(reading, ["log", "file"], values.log.file)
  const auditFile = ownFile(reading, ["audit", "file"], values.audit.file) ?? join(dataDir, "audit.jsonl")
  if (logFile === auditFile) report(problemAt(["log", "file"], `must not be the audit log's file (${auditFile})`))
  return {
    dataDir,
    workspace: usual.workspace,
    hidden: hiddenFolders(kept, sources),
    tokensFile: ownFile(reading, ["mcp", "http", "tokens_file"], values.mcp.http.tokens_file),
    logFile,
    auditFile,
    notices: usual.notice === null ? [] : [usual.notice]
  }
}

/**
 * The data folder comes first. A settings folder that others need too stays in sight, as does the package: it holds no
 * settings of the user's own, and often lies in the toolchain that commands run.
 */
const hiddenFolders = ({ dataDir, configDirs }: KeptFolders, sources: Sources): ReadonlyArray<string> => {
  const packageRoot = sources.packageRoot === null ? null : realPath(sources.packageRoot)
  const own = configDirs.filter((folder) => folder !== packageRoot && !isShared(folder, sources))
  return [...new Set([dataDir, ...own])]
}

const usualDataDir = (reading: Reading): string => {
  const usual = defaultDataDir(reading.sources)
  const real =
    usual === null
      ? Either.left("there is no home folder (HOME is not set): set data_dir or SAGYO_DATA_DIR")
      : usableDataDir(usual, reading.sources)
  return Either.getOrElse(real, (words) => {
    reading.report(`data_dir: ${words}`)
    return "/nonexistent"
  })
}

/** The folder that the environment names, else the file; null where neither does, or where it is wrong and reported. */
const chosen = (
  { sources, file, config, report }: Reading,
  name: string,
  key: ConfigPath,
  written: string | null,
  usable: (path: string) => Either.Either<string, string>
): string | null => {
  const fromVariable = sources.env[name] || null
  if (fromVariable === null && written === null) return null
  const base = fromVariable !== null || file === null ? sources.cwd : dirname(file)
  return pathRule(fromVariable ?? written).pipe(
    Either.flatMap((path) => absolute(path, base, sources.home)),
    Either.flatMap(usable),
    Either.getOrElse((words) => {
      report(fromVariable !== null ? `${name}: ${words}` : config.problemAt(key, words))
      return null
    })
  )
}

const ownFile = (reading: Reading, key: ConfigPath, written: string | null): string | null =>
  chosen(reading, "", key, written, (path) =>
    kindOf(path) === "folder" ? Either.left(`must be a file: ${path} is a folder`) : Either.right(path)
  )
