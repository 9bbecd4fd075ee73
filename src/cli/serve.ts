import { Effect } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { AppLog } from "../log/AppLog.ts"
import * as Http from "../mcp/Http.ts"
import { ownerToken } from "../mcp/HttpToken.ts"

/** MCP over HTTP until a signal comes; says on stderr where, once it listens. */
export const serve = Effect.gen(function* () {
  const { locale } = yield* AppConfig
  const { url } = yield* Effect.zipRight(keepTokenOut, Http.serve).pipe(
    Effect.mapError(({ _tag, reason }) => ({ _tag, message: reason[locale] }))
  )
  yield* Effect.sync(() => process.stderr.write(`listening on ${url}\n`))
  return yield* Effect.never
}).pipe(Effect.scoped)

/** Whatever the log is given from now on, the token is not in it. */
const keepTokenOut = Effect.gen(function* () {
  const { dataDir, mcp } = yield* AppConfig
  const log = yield* AppLog
  if (mcp.http.auth === "token") yield* log.hide(yield* ownerToken(dataDir))
})
