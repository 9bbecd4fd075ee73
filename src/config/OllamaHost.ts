import { Either } from "effect"
import { type Rule, shown } from "./Rule.ts"

const expected = "must be the address of an Ollama server (host, host:port, http://host:port, https://host)"

/**
 * Reads `OLLAMA_HOST` and `ollama.base_url` as Ollama's own client reads `OLLAMA_HOST`: 11434 where neither a scheme nor
 * a port is given, the scheme's own port after a scheme. A server's bind address (`0.0.0.0`, `::`) means this machine.
 * The result has no slash at its end; a path before the API's (a proxy's prefix) is kept.
 */
export const ollamaHost: Rule<string> = (value) => {
  if (typeof value !== "string") return Either.left(`${expected}, not ${shown(value)}`)
  const written = value.trim().replace(/^["']+|["']+$/g, "")
  // Nothing that may hold a password is repeated in the words.
  if (written.includes("@")) return Either.left(`${expected}, without a user name, a password or an "@"`)
  const refused = Either.left(`${expected}, not ${shown(written)}`)
  if (written === "" || /[\s\\?#$`{}<>]/.test(written)) return refused

  const [, scheme, authority = "", path = ""] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/]*)\/*(.*)$/i.exec(written) ?? []
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return refused
  if (/(^|\/)(v1|api)(\/|$)/.test(path)) {
    return Either.left(`${expected}, without /${path}: the path of Ollama's own API is added to it`)
  }
  const { host, port } = parts(authority)
  if ((host === "" && port === "") || !/^\d{0,5}$/.test(port) || Number(port || 1) === 0) return refused
  const ownPort = port || (scheme === undefined ? "11434" : "")
  const text = `${scheme ?? "http"}://${host || "127.0.0.1"}${ownPort && `:${ownPort}`}/${path}`
  return URL.canParse(text) ? Either.right(address(new URL(text))) : refused
}

/** `:8080` has no host; an IPv6 address without brackets has no port. */
const parts = (authority: string): { readonly host: string; readonly port: string } => {
  if (!authority.startsWith("[") && authority.split(":").length > 2) return { host: `[${authority}]`, port: "" }
  const colon = authority.lastIndexOf(":")
  return colon > authority.lastIndexOf("]")
    ? { host: authority.slice(0, colon), port: authority.slice(colon + 1) }
    : { host: authority, port: "" }
}

const address = (url: URL): string => {
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  if (url.hostname === "[::]") url.hostname = "[::1]"
  return url.href.replace(/\/+$/, "").replace(/([^:])\/{2,}/g, "$1/")
}
