/** What is written in place of a secret. */
export const hidden = "[hidden]"

const secretKeys = new Set(
  "authorization proxyauthorization cookie setcookie token accesstoken refreshtoken authtoken bearertoken apikey xapikey secret clientsecret password passwd passphrase privatekey credentials database64".split(
    " "
  )
)

/** Whether what stands under this key is never printed. Counts such as `token_usage` are no secrets. */
export const isSecretKey = (key: string): boolean => secretKeys.has(key.toLowerCase().replace(/[^a-z0-9]/g, ""))

const patterns: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(bearer|basic) {1,4}[\w.~+/=-]{6,}/gi, `$1 ${hidden}`],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"']{1,500}@/gi, `$1${hidden}@`],
  [/([?&](?:key|token|access_token|api_key|apikey|code|secret|password|sig|signature)=)[^&\s"'<>]+/gi, `$1${hidden}`],
  [/((?:data_?base64|authorization|api_?key|password)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',}]{6,}/gi, `$1${hidden}`],
  // Image data, as a data URL or bare.
  [/[A-Za-z0-9+/_-]{256,}={0,2}/g, hidden]
]

/** The text without the known secrets, and without what looks like one. */
export const redact = (text: string, secrets: Iterable<string>): string => {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, hidden)
  for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement)
  return clean
}
