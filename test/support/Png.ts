import { crc32, deflateSync } from "node:zlib"

/** A PNG chunk: length, type, body, checksum. */
export const pngChunk = (type: string, body: Uint8Array): Buffer => {
  const chunk = Buffer.alloc(12 + body.length)
  chunk.writeUInt32BE(body.length, 0)
  chunk.write(type, 4, "latin1")
  chunk.set(body, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + body.length)), 8 + body.length)
  return chunk
}

/**
 * A sound grey PNG of `width` by `height` pixels, of exactly `bytes` bytes where that is given (an
 * ancillary chunk fills it up; it needs 12 bytes more than the picture has).
 */
export const makePng = (
  width: number,
  height: number,
  options: { readonly bytes?: number; readonly shade?: number } = {}
): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  const rows = Buffer.alloc((width + 1) * height, options.shade ?? 0)
  for (let row = 0; row < height; row++) rows[row * (width + 1)] = 0
  const start = [SIGNATURE, pngChunk("IHDR", header)]
  const end = [pngChunk("IDAT", deflateSync(rows)), pngChunk("IEND", Buffer.alloc(0))]
  const size = [...start, ...end].reduce((sum, part) => sum + part.length, 0)
  if (options.bytes === undefined) return Buffer.concat([...start, ...end])
  if (options.bytes < size + 12) throw new Error(`a PNG of ${width}x${height} needs ${size + 12} bytes to be padded`)
  return Buffer.concat([...start, pngChunk("paDd", Buffer.alloc(options.bytes - size - 12)), ...end])
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
