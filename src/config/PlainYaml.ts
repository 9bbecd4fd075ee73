/**
 * Reads a file that has nothing but `key: value` lines, sections and comments, as almost every settings file has: loading
 * and running the YAML parser takes longer than all else that settings need. Null for any other file, also one that
 * might be wrong: then the parser says what it means. Where it is not null, it is what the parser reads.
 */
export const readPlainYaml = (text: string): object | null => {
  const root: Section = Object.create(null)
  const open = [{ section: root, indent: 0 }]
  let header: { readonly section: Section; readonly key: string; readonly indent: number } | null = null
  for (const line of text.split("\n")) {
    if (/^ *(#\P{Cc}*)?$/u.test(line)) continue
    const [, spaces, key, written] = /^( *)([a-z_]+):(?: ([^\s#]+))?(?: +(?:#\P{Cc}*)?)?$/u.exec(line) ?? []
    if (spaces === undefined || key === undefined) return null
    const indent = spaces.length
    if (header !== null) {
      if (indent <= header.indent) return null
      const section: Section = Object.create(null)
      header.section[header.key] = section
      open.push({ section, indent })
      header = null
    }
    while (indent < (open.at(-1)?.indent ?? 0)) open.pop()
    const place = open.at(-1)
    if (place === undefined || place.indent !== indent || key in place.section) return null
    if (written === undefined) {
      header = { section: place.section, key, indent }
      place.section[key] = null
    } else {
      const value = scalar(written)
      if (value === undefined) return null
      place.section[key] = value
    }
  }
  return header === null ? root : null
}

type Section = Record<string, unknown>

/** Undefined for what may have a meaning of its own in YAML. */
const scalar = (written: string): unknown => {
  if (written === "true" || written === "false") return written === "true"
  if (written === "null") return null
  if (written === "[]") return []
  if (written === '""') return ""
  if (/^(0|[1-9]\d{0,14})$/.test(written)) return Number(written)
  const isWord = /^[a-z][\w./-]*(:[\w./-]+)*$/.test(written)
  const isMeasure = /^\d{1,9}(ms|[smhd]|[KMG]?i?B)$/.test(written)
  const isAddress = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(written)
  return isWord || isMeasure || isAddress ? written : undefined
}
