import { createHash } from "node:crypto"
import { readFile, stat } from "node:fs/promises"
import { Clock, Effect } from "effect"
import type { Bilingual } from "../domain/Settings.ts"
import { HttpUnguarded } from "./HttpUnusable.ts"

/** Names by the SHA-256 of their token, in lower-case hex. */
export type TokenNames = ReadonlyMap<string, string>

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * Reads lines of the form `name: hash`, where the hash is the SHA-256 of the token in hex. Blank lines and
 * lines that begin with `#` say nothing.
 */
export const parseTokensFile = (path: string, text: string): Effect.Effect<TokenNames, HttpUnguarded> =>
  Effect.gen(function* () {
    const names = new Map<string, string>()
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      if (/^\s*(#|$)/.test(line)) continue
      const [, name, hash] = entry.exec(line) ?? []
      const wrong = (reason: Bilingual) => new HttpUnguarded({ reason: at(path, index + 1, reason) })
      if (name === undefined || hash === undefined) return yield* wrong(malformed)
      if ([...names.values()].includes(name)) return yield* wrong(twice(name))
      if (names.has(hash.toLowerCase())) return yield* wrong(sameToken(name))
      names.set(hash.toLowerCase(), name)
    }
    return names
  })

const entry = /^\s*([A-Za-z0-9][A-Za-z0-9._-]{0,63})\s*:\s*([0-9a-fA-F]{64})\s*$/

/** How old what was read may be, in milliseconds: a token that is taken out of the file ends within this time. */
const freshFor = 1000

/**
 * The names in a file that may change while the server runs. It must be good at the start; later a version that is
 * missing or wrong is reported and lets nobody in.
 */
export const watchTokensFile = (path: string): Effect.Effect<Effect.Effect<TokenNames>, HttpUnguarded> =>
  Effect.gen(function* () {
    const version = Effect.tryPromise({
      try: async () => {
        const { mtimeMs, size, ino } = await stat(path)
        return `${mtimeMs} ${size} ${ino}`
      },
      catch: (cause) => new HttpUnguarded({ reason: unreadable(path, cause) })
    })
    const read = Effect.tryPromise({
      try: () => readFile(path, "utf8"),
      catch: (cause) => new HttpUnguarded({ reason: unreadable(path, cause) })
    }).pipe(Effect.flatMap((text) => parseTokensFile(path, text)))

    let known = { version: yield* version, names: yield* read, seenAt: yield* Clock.currentTimeMillis }
    const nobody: TokenNames = new Map()
    const refresh = Effect.fnUntraced(function* (now: number) {
      const found = yield* version
      if (found === known.version) known = { ...known, seenAt: now }
      else known = { version: found, names: yield* read, seenAt: now }
      return known.names
    })
    return Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (Math.abs(now - known.seenAt) < freshFor) return known.names
      return yield* refresh(now).pipe(
        Effect.catchAll((error) =>
          Effect.logError(error.reason.en).pipe(
            Effect.as(nobody),
            Effect.tap(() =>
              Effect.sync(() => {
                known = { version: "", names: nobody, seenAt: now }
              })
            )
          )
        )
      )
    })
  })

const at = (path: string, line: number, reason: Bilingual): Bilingual => ({
  ja: `${path}:${line}: ${reason.ja}`,
  en: `${path}:${line}: ${reason.en}`
})

const malformed: Bilingual = {
  ja: "「名前: トークンの SHA-256（16進64桁）」の形で書いてください。名前は英数字と . _ - です。",
  en: "write `name: SHA-256 of the token in 64 hex digits`; a name has letters, digits and . _ -"
}

const twice = (name: string): Bilingual => ({
  ja: `名前 ${name} が重複しています。トークンごとに別の名前を付けてください。`,
  en: `the name ${name} stands here twice; give each token a name of its own`
})

const sameToken = (name: string): Bilingual => ({
  ja: `${name} のトークンは前の行と同じです。トークンごとに別の値を使ってください。`,
  en: `the token of ${name} is the same as one before; use another token for each name`
})

const unreadable = (path: string, cause: unknown): Bilingual => ({
  ja: `${path} を読み込めません（${String(cause)}）。mcp.http.tokens_file を確認してください。`,
  en: `${path} cannot be read (${String(cause)}). Check mcp.http.tokens_file.`
})
