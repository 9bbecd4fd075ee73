import type { Bilingual } from "../../domain/Settings.ts"

/** The size in bytes of what `text` stands for, told from its length alone: right wherever the text is valid. */
export const decodedSize = (text: string): number => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  return Math.floor(((text.length - padding) * 3) / 4)
}

/**
 * The bytes of `text`, or what is wrong with it. Only what RFC 4648 §4 calls canonical is taken: the
 * standard alphabet, padded to a multiple of four, the unused bits zero, and nothing else in it.
 */
export const decodeBase64 = (text: string): Uint8Array | Bilingual => {
  if (text.trim() === "") return EMPTY
  if (/^data:/i.test(text)) return DATA_URL
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL
  const bytes = Buffer.from(text, "base64")
  // Node's decoder skips what it does not know; only a canonical text comes back the same.
  return bytes.toString("base64") === text ? bytes : fault(text)
}

const ACCEPTED: Bilingual = {
  ja: "標準の Base64（A-Z a-z 0-9 + /、末尾は = で埋める。改行、空白、接頭辞は不可）だけを受け付けます。",
  en: "Only standard Base64 is accepted (A-Z a-z 0-9 + /, padded with =, without line breaks, white space or a prefix)."
}

const accepted = (ja: string, en: string): Bilingual => ({ ja: `${ja}${ACCEPTED.ja}`, en: `${en} ${ACCEPTED.en}` })

const EMPTY = accepted("空です。", "It is empty.")
const DATA_URL = accepted(
  "data: URL です。「data:…;base64,」を除いた残りだけを渡してください。",
  "It is a data: URL; give only what follows the data: prefix and its comma."
)
const URL = accepted(
  "URL です。URL は開きません。画像そのものを渡してください。",
  "It is a URL, and no URL is ever opened; give the image itself."
)

const fault = (text: string): Bilingual => {
  const at = text.search(/[^A-Za-z0-9+/=]/)
  if (at >= 0) {
    const name = nameOf(text.codePointAt(at) ?? 0)
    return accepted(
      `${at + 1} 文字目の ${name} は Base64 の文字ではありません。`,
      `Character ${at + 1} (${name}) does not belong to Base64.`
    )
  }
  const padding = text.indexOf("=")
  if (text.length % 4 !== 0 || (padding >= 0 && !["=", "=="].includes(text.slice(padding)))) {
    return accepted(
      `末尾の = が正しくありません（長さ ${text.length} 文字）。`,
      `Its padding is wrong (its length is ${text.length} characters).`
    )
  }
  return accepted("最後の文字に余分なビットがあります。", "Its last character has bits that stand for nothing.")
}

const nameOf = (codePoint: number): string =>
  codePoint > 0x20 && codePoint < 0x7f
    ? `"${String.fromCodePoint(codePoint)}"`
    : `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`
