import type { IncomingMessage } from "node:http"
import type { HttpSettings } from "../config/AppConfig.ts"
import { type HttpRefused, refused } from "./HttpRefused.ts"

/** What a request asks for. `unknown` is told only to who may ask. */
export type Route = "healthz" | "readyz" | "mcp" | "unknown"

/** What the guards hold a request against. */
export interface GuardPolicy {
  /** Host names in lower case, with a port where only that one is allowed. */
  readonly hosts: ReadonlySet<string>
  readonly origins: ReadonlySet<string>
  readonly basePath: string
  /** Bytes of a body. */
  readonly limit: number
}

/** `port` is the one that is listened on: pages that this server itself serves are no strangers. */
export const guardPolicy = (http: HttpSettings, port: number, limit: number): GuardPolicy => {
  const listening = isWildcard(http.host) ? [] : [hostName(http.host)]
  return {
    hosts: new Set([...loopbackNames, ...listening, ...http.allowedHosts]),
    origins: new Set([
      ...[...loopbackNames, ...listening].map((name) => `http://${name}:${port}`),
      ...http.allowedOrigins
    ]),
    basePath: http.basePath,
    limit
  }
}

/** A host as it stands in a URL. */
export const hostName = (host: string): string => (host.includes(":") ? `[${host}]` : host).toLowerCase()

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::"

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"]

/** A page of another site must reach nothing: neither by its own name for this address nor by a request of a browser. */
export const checkSite = (request: IncomingMessage, policy: GuardPolicy): HttpRefused | undefined => {
  const hosts = request.rawHeaders.filter((_, index) => index % 2 === 0).filter((name) => name.toLowerCase() === "host")
  if (hosts.length > 1) return refused(400, "Bad request: more than one Host header", close)
  const host = hostHeader.exec((request.headers.host ?? "").toLowerCase())
  if (host === null) return refused(400, "Bad request: the Host header is missing or malformed", close)
  const [whole, name = ""] = host
  if (!policy.hosts.has(name) && !policy.hosts.has(whole)) {
    return refused(403, "Host not allowed: add it to mcp.http.allowed_hosts", close)
  }
  const { origin } = request.headers
  return origin === undefined || policy.origins.has(origin.toLowerCase())
    ? undefined
    : refused(403, "Origin not allowed: add it to mcp.http.allowed_origins", close)
}

const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/

const close = { connection: "close" }

/** Health is answered at the root, too, where a probe does not go through the proxy that adds the base path. */
export const routeOf = (request: IncomingMessage, { basePath }: GuardPolicy): Route => {
  const target = (request.url ?? "").replace(/^http:\/\/[^/?#]*/i, "")
  const path = target.split("?", 1)[0] ?? ""
  if (path === "/healthz" || path === `${basePath}/healthz`) return "healthz"
  if (path === "/readyz" || path === `${basePath}/readyz`) return "readyz"
  return path === `${basePath}/mcp` ? "mcp" : "unknown"
}

/** What is seen of an MCP request before its body is read. */
export const checkHead = (request: IncomingMessage, { limit }: GuardPolicy): HttpRefused | undefined => {
  if (request.method !== "POST") return refused(405, "Method not allowed", { allow: "POST" })
  if (!/^application\/json[ \t]*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    return refused(415, "Unsupported media type: Content-Type must be application/json", close)
  }
  if (!/^(identity)?$/i.test(request.headers["content-encoding"] ?? "")) {
    return refused(415, "Unsupported media type: no Content-Encoding is supported", close)
  }
  return Number(request.headers["content-length"] ?? 0) > limit ? tooLarge(limit) : undefined
}

export const tooLarge = (limit: number): HttpRefused =>
  refused(413, `Payload too large: a body may have ${limit} bytes`, close)
