import { chmod, mkdir, open } from "node:fs/promises"
import { join } from "node:path"
import Database from "better-sqlite3"
import { Effect, Schema } from "effect"

/** The data folder cannot be made or is not ours to write. */
export class DataFolderUnusable extends Schema.TaggedError<DataFolderUnusable>()("DataFolderUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `the data folder ${this.path} cannot be used: ${this.reason}. Mend its permissions, or name another one by data_dir or SAGYO_DATA_DIR`
  }
}

/** SQLite's native module was installed without its binary. */
export class NativeModuleMissing extends Schema.TaggedError<NativeModuleMissing>()("NativeModuleMissing", {
  reason: Schema.String
}) {
  override get message(): string {
    return `better-sqlite3 has no binary for this Node (${process.version}): ${this.reason}
Install it by \`npm rebuild better-sqlite3\` in the folder of the package, or \`npm install -g sagyo --allow-scripts=better-sqlite3\``
  }
}

/** Makes the folder (mode 0700, also where it is there already) and an empty database file that only its owner reads. */
export const prepareDataFolder = (path: string): Effect.Effect<void, DataFolderUnusable> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(path, { recursive: true, mode: 0o700 })
      await chmod(path, 0o700)
      // SQLite gives its other files the mode of this one
      await (await open(join(path, "sagyo.db"), "a", 0o600)).close()
    },
    catch: (cause) => new DataFolderUnusable({ path, reason: (cause as Error).message })
  })

/** Opens a database in memory, which shows whether the binary is there and fits. */
export const checkNativeModule: Effect.Effect<void, NativeModuleMissing> = Effect.try({
  try: () => void new Database(":memory:").close(),
  catch: (cause) => new NativeModuleMissing({ reason: (cause as Error).message.split("\n")[0] ?? "" })
})
