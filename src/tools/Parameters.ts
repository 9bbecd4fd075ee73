import { Effect, Option, Schema } from "effect"
import { ToolFailed } from "./ToolFailed.ts"

/** One parameter of a tool: what the model is told of it, and how what it wrote is read. */
export interface Parameter<A> {
  readonly json: Readonly<Record<string, unknown>>
  readonly required: boolean
  /** Completes "must be …". */
  readonly rule: string
  readonly read: (value: unknown) => Option.Option<A>
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>
export type Arguments<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer A> ? A : never
}

const described = (type: string, description: string | undefined) =>
  description === undefined ? { type } : { type, description }

export const text = (description?: string): Parameter<string> => ({
  json: described("string", description),
  required: true,
  rule: "a string",
  read: Schema.decodeUnknownOption(Schema.String)
})

/** A whole number of at least 1; small models write `"10"` and 0 for it too. */
export const count = (description?: string): Parameter<number> => ({
  json: described("integer", description),
  required: true,
  rule: "a whole number from 1",
  read: (value) =>
    Schema.decodeUnknownOption(Schema.Union(Schema.Int, Schema.NumberFromString.pipe(Schema.int())))(value).pipe(
      Option.filter((number) => number >= 0),
      Option.map((number) => Math.max(1, number))
    )
})

export const seconds = (description?: string): Parameter<number> => ({
  json: described("number", description),
  required: true,
  rule: "a number of seconds above 0",
  read: (value) =>
    Schema.decodeUnknownOption(Schema.Union(Schema.Finite, Schema.NumberFromString.pipe(Schema.finite())))(value).pipe(
      Option.filter((number) => number > 0)
    )
})

export const flag = (description?: string): Parameter<boolean> => ({
  json: described("boolean", description),
  required: true,
  rule: "true or false",
  read: (value) => {
    const word = typeof value === "string" ? value.trim().toLowerCase() : value
    return word === true || word === "true"
      ? Option.some(true)
      : word === false || word === "false"
        ? Option.some(false)
        : Option.none()
  }
})

/** May be left out; null counts as left out. */
export const optional = <A>(parameter: Parameter<A>): Parameter<A | undefined> => ({
  ...parameter,
  required: false,
  read: (value) => (value === null || value === undefined ? Option.some(undefined) : parameter.read(value))
})

/** The JSON Schema that the model is given. */
export const jsonSchema = (parameters: Parameters) => ({
  type: "object",
  properties: Object.fromEntries(Object.entries(parameters).map(([name, parameter]) => [name, parameter.json])),
  required: Object.entries(parameters).flatMap(([name, parameter]) => (parameter.required ? [name] : []))
})

const kind = (value: unknown) =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "an array"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`

/** Reads what the model wrote; the error names every parameter that is wrong and its rule. */
export const readArguments = <P extends Parameters>(
  tool: string,
  parameters: P,
  args: Readonly<Record<string, unknown>>
): Effect.Effect<Arguments<P>, ToolFailed> => {
  const problems: Array<string> = []
  const read: Array<[string, unknown]> = []
  for (const [name, parameter] of Object.entries(parameters)) {
    const given = Object.hasOwn(args, name) ? args[name] : undefined
    const value = parameter.read(given)
    if (Option.isSome(value)) read.push([name, value.value])
    else if (given === undefined) problems.push(`\`${name}\` is missing: it must be ${parameter.rule}`)
    else problems.push(`\`${name}\` must be ${parameter.rule}, not ${kind(given)}`)
  }
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(parameters, name))
  if (unknown.length > 0) {
    const names = unknown.slice(0, 5).map((name) => `\`${name.slice(0, 40)}\``)
    problems.push(`there is no parameter ${names.join(", ")}`)
  }
  if (problems.length === 0) return Effect.succeed(Object.fromEntries(read) as Arguments<P>)
  const accepted = Object.entries(parameters).map(([name, parameter]) => (parameter.required ? name : `${name}?`))
  return Effect.fail(
    new ToolFailed({ message: `Wrong arguments: ${problems.join("; ")}. ${tool} takes {${accepted.join(", ")}}.` })
  )
}
