import { isIP } from "node:net"
import { Either } from "effect"
import { type Rule, shown, text } from "./Rule.ts"

const name = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i

/** An address or a host name to listen on, IPv6 without its brackets. */
export const listenHost: Rule<string> = (value) => {
  const bare = typeof value === "string" ? value.replace(/^\[(.*)\]$/, "$1") : ""
  return isIP(bare) !== 0 || name.test(bare)
    ? Either.right(bare)
    : Either.left(`must be an IP address or a host name without scheme and port, not ${shown(value)}`)
}

/** Whether only this machine reaches the host that `listenHost` accepted. Other names are not looked up: they count as remote. */
export const isLoopback = (host: string): boolean => {
  if (host.toLowerCase() === "localhost") return true
  if (isIP(host) === 4) return host.startsWith("127.")
  if (isIP(host) !== 6 || host.includes("%")) return false
  return /^\[::(1|ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})\]$/.test(new URL(`http://[${host}]`).hostname)
}

/** A Host header's value: `name` or `name:port`, in lower case. */
export const allowedHost: Rule<string> = (value) => {
  const [, host = "", port = "1"] =
    typeof value === "string" ? (/^(\[.*\]|[^:]*)(?::(\d{1,5}))?$/.exec(value) ?? []) : []
  const known = host.startsWith("[") ? isIP(host.slice(1, -1)) === 6 : isIP(host) !== 0 || name.test(host)
  return known && Number(port) <= 65535
    ? Either.right(String(value).toLowerCase())
    : Either.left(`must be a host or host:port, as browsers send it, not ${shown(value)}`)
}

/** An Origin header's value: scheme, host and port, nothing after. */
export const allowedOrigin: Rule<string> = (value) => {
  const written = typeof value === "string" ? value.toLowerCase() : ""
  const refused = Either.left(
    `must be an origin such as https://app.example.com (no path, no slash at its end, no *), not ${shown(value)}`
  )
  if (!/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._:[\]-]+$/.test(written)) return refused
  if (!/^https?:/.test(written)) return Either.right(written)
  return URL.canParse(written) ? Either.right(new URL(written).origin) : refused
}

/** What stands before `/mcp`: empty, or `/name` once or more. */
export const basePath: Rule<string> = (value) =>
  typeof value === "string" && /\/\.{1,2}(\/|$)/.test(value)
    ? Either.left(`must have no "." or ".." in it, not ${shown(value)}`)
    : text('"" or a path such as "/sagyo" (a slash first, none at its end)', /^(\/[A-Za-z0-9._~-]+)*$/)(value)
