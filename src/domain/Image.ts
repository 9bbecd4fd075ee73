import { Schema } from "effect"

export const ImageMimeType = Schema.Literal("image/png", "image/jpeg", "image/webp")
export type ImageMimeType = typeof ImageMimeType.Type

/** Names a stored image: the SHA-256 of its bytes in lower-case hex. */
export class ImageRef extends Schema.Class<ImageRef>("ImageRef")({
  hash: Schema.String,
  mimeType: ImageMimeType,
  bytes: Schema.Number,
  width: Schema.Number,
  height: Schema.Number
}) {}

/** An image that passed every rule, with the bytes that are to be stored. */
export interface ValidImage {
  readonly ref: ImageRef
  readonly data: Uint8Array
}
