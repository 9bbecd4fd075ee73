import { Either, Option } from "effect"
import { isObject, parseLoose } from "./LooseJson.ts"

/** What a call's arguments say. Left explains to the model what is wrong with them. */
export const readArguments = (written: unknown): Either.Either<Readonly<Record<string, unknown>>, string> => {
  if (written === undefined || written === null) return Either.right({})
  if (isObject(written)) return Either.right(written)
  if (typeof written !== "string") return Either.left(wrongKind(written))
  if (written.trim() === "") return Either.right({})
  return Option.match(parseLoose(written), {
    onNone: () =>
      Either.left("The arguments are not valid JSON, or they were cut off. Write them again as one JSON object."),
    // some templates encode twice
    onSome: (value) => (typeof value === "string" && value !== written ? readArguments(value) : readParsed(value))
  })
}

const readParsed = (value: unknown) =>
  value === null ? Either.right({}) : isObject(value) ? Either.right(value) : Either.left(wrongKind(value))

const wrongKind = (value: unknown): string =>
  `The arguments must be one JSON object such as {"path": "a.txt"}, but they are ${
    Array.isArray(value) ? "an array" : `a ${typeof value}`
  }.`
