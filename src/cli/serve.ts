import { Effect } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Bilingual } from "../domain/Settings.ts"
import * as Http from "../mcp/Http.ts"

/** MCP over HTTP until a signal comes; says on stderr where, once it listens. */
export const serve = Effect.gen(function* () {
  const { locale } = yield* AppConfig
  const { url } = yield* Http.serve.pipe(
    Effect.mapError((error) => ({ _tag: error._tag, message: (error.reason as Bilingual)[locale] }))
  )
  yield* Effect.sync(() => process.stderr.write(`listening on ${url}\n`))
  return yield* Effect.never
}).pipe(Effect.scoped)
