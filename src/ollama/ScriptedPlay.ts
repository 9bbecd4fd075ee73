import type { ServerResponse } from "node:http"
import type { Reply } from "./ScriptedReply.ts"

/**
 * Plays a reply into a response, and stops where the client is gone. `model` is what records name; `waits` is called at each pause.
 */
export const play = async (reply: Reply, response: ServerResponse, model: string, waits: () => void): Promise<void> => {
  const gone = closeOf(response)
  response.setHeader("content-type", "application/x-ndjson")
  for (const step of reply) {
    if (response.destroyed) return
    switch (step._tag) {
      case "Head":
        response.statusCode = step.status
        response.setHeader("content-type", step.contentType)
        break
      case "Record": {
        const stamp = "message" in step.record ? { model, created_at: "2026-01-01T00:00:00Z" } : {}
        await written(response, Buffer.from(`${JSON.stringify({ ...stamp, ...step.record })}\n`))
        break
      }
      case "Bytes":
        await written(response, step.bytes)
        break
      case "Pause":
        waits()
        await Promise.race([step.until, gone])
        break
      case "Hang":
        waits()
        await gone
        return
      case "Cut":
        response.destroy()
        return
      case "Reset":
        response.socket?.resetAndDestroy()
        return
    }
  }
  response.end()
}

/** Settles when the response is over, for whatever reason. */
export const closeOf = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.once("close", () => resolve())
  })

/** Settles when the bytes were handed to the system, or the connection is gone. */
const written = (response: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    response.write(bytes, () => resolve())
  })
