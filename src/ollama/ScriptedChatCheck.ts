const CHAT_FIELDS = new Set([
  "model",
  "messages",
  "tools",
  "format",
  "think",
  "stream",
  "truncate",
  "shift",
  "options",
  "keep_alive"
])
const MESSAGE_FIELDS = new Set(["role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"])
const OPTION_FIELDS = new Set(["num_ctx", "temperature", "num_predict", "seed", "top_k", "top_p", "min_p", "stop"])

/** What is wrong with the body of a chat, one sentence each: what this program must always or never send. */
export const chatProblems = (body: unknown): ReadonlyArray<string> => {
  if (!isObject(body)) return ["the body is no JSON object"]
  const problems = unknownFields(body, CHAT_FIELDS, "the request")
  if (typeof body.model !== "string" || body.model === "") problems.push("model is missing")
  if (body.stream !== true) problems.push("stream is not true")
  if (body.truncate !== false) problems.push("truncate is not false")
  if (body.shift !== false) problems.push("shift is not false")
  if (body.keep_alive === undefined) problems.push("keep_alive is missing")
  problems.push(...optionProblems(body.options))
  if (!Array.isArray(body.messages)) return [...problems, "messages is no array"]
  return [...problems, ...body.messages.flatMap((message, index) => messageProblems(message, `messages[${index}]`))]
}

/** The refusal of a real server, whose decoder takes objects only, or null. */
export const argumentsRefusal = (body: unknown): string | null => {
  const messages = isObject(body) && Array.isArray(body.messages) ? body.messages : []
  for (const message of messages) {
    for (const call of callsOf(message)) {
      const args = isObject(call) && isObject(call.function) ? call.function.arguments : undefined
      if (args !== undefined && args !== null && !isObject(args)) {
        const kind = Array.isArray(args) ? "array" : typeof args
        return `json: cannot unmarshal ${kind} into Go struct field ChatRequest.messages.tool_calls.function.arguments of type map[string]interface {}`
      }
    }
  }
  return null
}

const optionProblems = (options: unknown): Array<string> => {
  if (!isObject(options)) return ["options is missing"]
  const problems = unknownFields(options, OPTION_FIELDS, "options")
  if (!Number.isInteger(options.num_ctx)) problems.push("options.num_ctx is no whole number")
  return problems
}

const messageProblems = (message: unknown, at: string): Array<string> => {
  if (!isObject(message)) return [`${at} is no object`]
  const problems = unknownFields(message, MESSAGE_FIELDS, at)
  if (!["system", "user", "assistant", "tool"].includes(String(message.role))) problems.push(`${at}.role is unknown`)
  if (typeof message.content !== "string") problems.push(`${at}.content is no string`)
  for (const call of callsOf(message)) {
    const named = isObject(call) && isObject(call.function) && typeof call.function.name === "string"
    if (!named) problems.push(`${at}.tool_calls has a call without a name`)
    else if (!isObject((call.function as Record<string, unknown>).arguments)) {
      problems.push(`${at}.tool_calls has arguments that are no object`)
    }
  }
  for (const image of Array.isArray(message.images) ? message.images : []) {
    if (typeof image !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(image) || image.length % 4 !== 0) {
      problems.push(`${at}.images has an image that is not standard Base64`)
    }
  }
  return problems
}

const callsOf = (message: unknown): ReadonlyArray<unknown> =>
  isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : []

const unknownFields = (object: Record<string, unknown>, known: ReadonlySet<string>, at: string): Array<string> =>
  Object.keys(object)
    .filter((field) => !known.has(field))
    .map((field) => `${at} has the unknown field ${field}`)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
