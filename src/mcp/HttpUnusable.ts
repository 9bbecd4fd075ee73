import { Data } from "effect"
import type { Bilingual } from "../domain/Settings.ts"

/** The address cannot be listened on; `reason` says what mends it. */
export class HttpListenFailed extends Data.TaggedError("HttpListenFailed")<{ readonly reason: Bilingual }> {
  override get message(): string {
    return this.reason.en
  }
}

/** What would guard the server cannot be used, or would leave it open; `reason` says what mends it. */
export class HttpUnguarded extends Data.TaggedError("HttpUnguarded")<{ readonly reason: Bilingual }> {
  override get message(): string {
    return this.reason.en
  }
}
