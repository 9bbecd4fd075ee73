const IMAGES: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
  ["a PNG image", [0x89, 0x50, 0x4e, 0x47]],
  ["a JPEG image", [0xff, 0xd8, 0xff]],
  ["a GIF image", [0x47, 0x49, 0x46, 0x38]],
  ["a PDF document", [0x25, 0x50, 0x44, 0x46, 0x2d]]
]

/** What the first bytes of a file say it is, null where it looks like text. */
export const binaryKind = (head: Buffer): string | null => {
  const known = IMAGES.find(([, magic]) => magic.every((byte, index) => head[index] === byte))
  if (known) return known[0]
  if (head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP") return "a WebP image"
  return head.includes(0) ? "a binary file" : null
}
