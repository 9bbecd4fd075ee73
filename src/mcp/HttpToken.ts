import { randomBytes, randomUUID } from "node:crypto"
import { chmod, link, mkdir, readFile, stat, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { Bilingual } from "../domain/Settings.ts"
import { HttpUnguarded } from "./HttpUnusable.ts"

/**
 * The owner's token, from the file `token` of the data folder. It is made once, readable by the owner
 * alone; of several processes that come at the same time one makes it and all read the same.
 */
export const ownerToken = Effect.fn("HttpToken.ownerToken")(function* (dataDir: string) {
  const path = join(dataDir, "token")
  const cannot = (cause: unknown) => new HttpUnguarded({ reason: unreadable(path, cause) })
  const token = yield* Effect.tryPromise({ try: () => readOrMake(dataDir, path), catch: cannot })
  return token.length >= shortest && !/\s/.test(token) ? token : yield* new HttpUnguarded({ reason: malformed(path) })
})

const shortest = 16

const readOrMake = async (dataDir: string, path: string): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const made = (await isThere(path)) ? undefined : await make(dataDir, path)
  if (made !== undefined) return made
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600)
  return (await readFile(path, "utf8")).trim()
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false
  )

/** The file appears under its name with its whole content, or was there first: then nothing is given. */
const make = async (dataDir: string, path: string): Promise<string | undefined> => {
  const token = randomBytes(32).toString("base64url")
  const draft = join(dataDir, `.token-${randomUUID()}`)
  await writeFile(draft, `${token}\n`, { mode: 0o600, flag: "wx" })
  try {
    await link(draft, path)
    return token
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return undefined
  } finally {
    await unlink(draft)
  }
}

const unreadable = (path: string, cause: unknown): Bilingual => ({
  ja: `トークンのファイル ${path} を作成または読み込みできません（${String(cause)}）。データフォルダの権限を確認してください。`,
  en: `The token file ${path} cannot be made or read (${String(cause)}). Check the permissions of the data folder.`
})

const malformed = (path: string): Bilingual => ({
  ja: `トークンのファイル ${path} の内容が正しくありません（空白を含まない ${shortest} 文字以上が必要です）。ファイルを削除すると、次の起動時に作り直されます。`,
  en: `The token file ${path} does not hold a token (at least ${shortest} characters without white space). Delete it, and the next start makes a new one.`
})
