import { Context, type Effect } from "effect"
import type { ValidImage } from "../domain/Image.ts"
import type { RequestRefused } from "../domain/Problem.ts"
import type { ImageInput } from "./Tasks.ts"

export class ImageValidator extends Context.Tag("sagyo/task/ImageValidator")<
  ImageValidator,
  {
    /** All problems of all images in one refusal, each naming `images[i]` and the property. */
    readonly validate: (images: ReadonlyArray<ImageInput>) => Effect.Effect<ReadonlyArray<ValidImage>, RequestRefused>
  }
>() {}
