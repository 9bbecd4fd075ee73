import { Agent, request } from "node:http"
import { type Call, callMessage, headersOf } from "./Message.ts"

/** Where calls go: the same client, with the same connections, for every server. */
export interface Target {
  readonly url: string
  readonly token: string | null
  readonly call: Call
  /** What every answer must hold. */
  readonly expected: string
}

/** Sends calls over `connections` kept connections, one after the other on each, for `millis`; calls a second. */
export const load = async (target: Target, connections: number, millis: number): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const url = new URL(target.url)
  const headers = headersOf(target.call, target.token)
  let answered = 0
  const begin = performance.now()
  const line = async () => {
    while (performance.now() - begin < millis) {
      const body = callMessage(answered, target.call)
      const text = await post(agent, url, headers, body)
      if (!text.includes(target.expected)) throw new Error(`a wrong answer: ${text}`)
      answered++
    }
  }
  await Promise.all(Array.from({ length: connections }, line))
  const seconds = (performance.now() - begin) / 1000
  agent.destroy()
  return answered / seconds
}

/** One call by itself. */
export const once = async (target: Target): Promise<string> => {
  const agent = new Agent()
  const body = callMessage(0, target.call)
  return post(agent, new URL(target.url), headersOf(target.call, target.token), body).finally(() => agent.destroy())
}

const post = (agent: Agent, url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: "POST", agent, headers: { ...headers, "content-length": Buffer.byteLength(body) } },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")))
      }
    )
    sent.on("error", reject)
    sent.end(body)
  })
