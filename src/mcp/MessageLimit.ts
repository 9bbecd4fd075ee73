import type { ImageLimits } from "../config/AppConfig.ts"

/** The largest message, in bytes: images as Base64 take four thirds of their size, and the rest has 2 MiB. */
export const messageLimit = ({ maxTotalBytes }: ImageLimits): number =>
  Math.ceil((maxTotalBytes * 4) / 3) + 2 * 1024 * 1024
