import { timingSafeEqual } from "node:crypto"
import { Effect } from "effect"
import type { Settings } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import { type HttpRefused, refused } from "./HttpRefused.ts"
import { ownerToken } from "./HttpToken.ts"
import { sha256, watchTokensFile } from "./HttpTokensFile.ts"
import type { HttpUnguarded } from "./HttpUnusable.ts"

/** Finds out who asks from an `Authorization` header. Other ways to tell a caller belong beside the two below. */
export type Authenticate = (authorization: string | undefined) => Effect.Effect<Caller, HttpRefused>

const owner: Caller = { token: null, via: "http" }

/** Everybody who reaches the port is the owner. */
const anyone: Authenticate = () => Effect.succeed(owner)

/** The owner's token, which is made if it is not there, and further ones that have names. */
export const makeAuthenticate = (settings: Settings): Effect.Effect<Authenticate, HttpUnguarded> =>
  Effect.gen(function* () {
    const { auth, tokensFile } = settings.mcp.http
    if (auth === "none") return anyone
    const ownerHash = Buffer.from(sha256(yield* ownerToken(settings.dataDir)))
    const furtherNames =
      tokensFile === null ? Effect.succeed(new Map<string, string>()) : yield* watchTokensFile(tokensFile)
    return (authorization) =>
      Effect.gen(function* () {
        const token = /^bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1]
        if (token === undefined) return yield* challenge('Bearer realm="sagyo"')
        const hash = sha256(token)
        // Hashes are compared, so that no time tells how much of a token was right.
        if (timingSafeEqual(Buffer.from(hash), ownerHash)) return owner
        const name = (yield* furtherNames).get(hash)
        if (name === undefined) return yield* challenge('Bearer realm="sagyo", error="invalid_token"')
        return { token: name, via: "http" } satisfies Caller
      })
  })

const challenge = (header: string) =>
  refused(401, "Unauthorized: send the token of the data folder as Authorization: Bearer", {
    "www-authenticate": header
  })
