// What is right is said here again, so that a fault in the program's own checks shows.

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value)

const isId = (value: unknown): value is string | number => typeof value === "string" || Number.isSafeInteger(value)

/** What is wrong with something that a server said. */
export const faultOf = (said: unknown): string | undefined => {
  if (!isObject(said)) return "it is no object"
  if (said.jsonrpc !== "2.0") return "jsonrpc is not 2.0"
  if ("method" in said) {
    if (typeof said.method !== "string" || "id" in said) return "it is no notification"
    return undefined
  }
  if ("id" in said && !isId(said.id)) return "its id is none"
  if ("result" in said === "error" in said) return "it has not just one of result and error"
  if ("result" in said) return isObject(said.result) && "id" in said ? undefined : "its result is none, or it has no id"
  const { error } = said
  if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== "string") return "its error is none"
  return Number(error.code) === -32603 ? "an internal error" : undefined
}

/** The id with which a message must be answered; none where that must be without one, or not at all. */
export const answerableId = (message: unknown): string | number | undefined => {
  if (!isObject(message) || !isId(message.id)) return undefined
  if (!("method" in message) && ("result" in message || "error" in message)) return undefined
  return message.id
}

/** Whether a message is one that is not answered once and at once. */
export const isSpecial = (message: unknown): message is JsonObject =>
  isObject(message) && (message.method === "subscriptions/listen" || message.method === "notifications/cancelled")
