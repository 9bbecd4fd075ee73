import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCRequest,
  type JsonSchemaValidator,
  ProtocolError,
  type Result,
  Server,
  type ServerContext,
  type ServerOptions,
  type StandardSchemaV1,
  type Tool
} from "@modelcontextprotocol/server"
import { Cause, Effect, type Scope } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import type { Caller } from "../domain/Caller.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import type { Tasks } from "../task/Tasks.ts"
import { type Era, modernVersion } from "./Era.ts"
import { ErrorCode, isObject, type JsonObject } from "./JsonRpc.ts"
import {
  InternalFailure,
  protocolErrorOf,
  type TaskNotFound,
  TasksUndeclared,
  type ToolNotFound,
  tasksExtension
} from "./Refusals.ts"
import { ServerChannel } from "./ServerChannel.ts"
import { serverInfo } from "./ServerInfo.ts"
import { acceptedText } from "./StatusText.ts"
import { cancelTask, createTaskResult, declaresTasks, getTask, updateTask } from "./TasksExtension.ts"
import type { ToolAnswer, ToolSet } from "./Tools.ts"

/** Hosts hand this to their models. */
const instructions =
  "Call agent_run with a request in plain words to hand work over; it answers at once with a task_id. " +
  "Then call agent_status with that task_id every second or so until status is completed, failed or cancelled, and read its result."

const toolListLifetime = 3_600_000

type Handled = Effect.Effect<
  Result,
  TaskNotFound | ToolNotFound | TasksUndeclared | InternalFailure | StoreFailed,
  Tasks | AppConfig
>

/** What servers are made of. `run` leads from the SDK's callbacks back into the program. */
export interface ServerParts {
  readonly tools: ToolSet
  readonly run: <A, E>(effect: Effect.Effect<A, E, Tasks | AppConfig>) => Promise<A>
  readonly onerror: (error: Error) => void
}

/** The SDK's servers, by era. */
export type Servers = Readonly<Record<Era, ServerChannel>>

/**
 * Opens a server of each era for the life of the scope, and gives the channels to them. The SDK's own entries
 * pin a pipe to one era, and make a server and web streams for each HTTP request, which costs more than the rest of it.
 */
export const openServers = (parts: ServerParts): Effect.Effect<Servers, never, Scope.Scope> => {
  const open = (era: Era) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const channel = new ServerChannel()
        const server = makeServer(era, channel, parts)
        await server.connect(channel)
        return { channel, server }
      }),
      ({ server }) => Effect.promise(() => server.close())
    ).pipe(Effect.map(({ channel }) => channel))
  return Effect.all({ modern: open("modern"), legacy: open("legacy") })
}

const makeServer = (era: Era, channel: ServerChannel, { tools, run, onerror }: ServerParts): Server => {
  const modern = era === "modern"
  const server = new AgentServer(era, {
    capabilities: { tools: {}, ...(modern && { extensions: { [tasksExtension]: {} } }) },
    instructions,
    cacheHints: { "tools/list": { ttlMs: toolListLifetime, cacheScope: "public" } },
    jsonSchemaValidator: noValidator
  })
  server.onerror = onerror
  const declared = (request: ServerContext) =>
    modern && declaresTasks(envelopeOf(request)[CLIENT_CAPABILITIES_META_KEY])
  const answer = (handled: Handled) => run(settled(handled))

  const definitions: Array<Tool> = tools.definitions.map((definition) => ({ ...definition }))
  server.setRequestHandler("tools/list", () => ({ tools: definitions }))
  server.setRequestHandler("tools/call", { params: callParams }, ({ name, input }, request) =>
    answer(
      Effect.flatMap(tools.call(name, input, channel.callerOf(request)), (answer) =>
        toolResult(answer, declared(request))
      )
    )
  )
  if (modern) {
    const onTask = (method: string, handle: (taskId: string, caller: Caller) => Handled) =>
      server.setRequestHandler(method, { params: taskIdParams }, ({ taskId }, request) =>
        answer(declared(request) ? handle(taskId, channel.callerOf(request)) : new TasksUndeclared())
      )
    onTask("tasks/get", getTask)
    onTask("tasks/update", updateTask)
    onTask("tasks/cancel", cancelTask)
  }
  return server
}

const envelopeOf = (request: ServerContext): JsonObject => ({ ...request.mcpReq.envelope })

const toolResult = (answer: ToolAnswer, asTask: boolean) =>
  Effect.map(AppConfig, (settings): Result => {
    if (answer._tag === "Text") return textResult(answer.text, answer.isError)
    return asTask ? createTaskResult(answer.task, settings) : textResult(acceptedText(answer.task, settings.locale))
  })

const textResult = (text: string, isError = false): Result => ({
  content: [{ type: "text", text }],
  ...(isError && { isError })
})

/** Whatever goes wrong becomes the protocol's error; of a defect the client learns nothing. */
const settled = (handled: Handled) =>
  handled.pipe(
    Effect.catchAllDefect((defect) =>
      Effect.logError("a request died", Cause.die(defect)).pipe(Effect.zipRight(new InternalFailure()))
    ),
    Effect.catchAll((error) => Effect.flatMap(AppConfig, ({ locale }) => Effect.fail(protocolErrorOf(error, locale))))
  )

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

/**
 * The SDK's own wrapping of `tools/call` refuses arguments that are no object, which are a tool error here, and puts
 * `content` into a CreateTaskResult: there is none.
 */
class AgentServer extends Server {
  constructor(era: Era, options: ServerOptions) {
    super(serverInfo, era === "modern" ? { ...options, supportedProtocolVersions: [modernVersion] } : options)
    if (era === "modern") this._negotiatedProtocolVersion = modernVersion
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    return method === "tools/call" ? handler : invalidParamsOf(method, super._wrapHandler(method, handler))
  }
}

/** The SDK answers params that do not fit its schema with an internal error, an `initialize` without a version as well. */
const invalidParamsOf =
  (method: string, wrapped: Handler): Handler =>
  async (request, context) => {
    const unversioned = method === "initialize" && typeof request.params?.protocolVersion !== "string"
    const mended = unversioned ? { ...request, params: { ...request.params, protocolVersion: "" } } : request
    try {
      return await wrapped(mended, context)
    } catch (error) {
      throw error instanceof ProtocolError
        ? error
        : new ProtocolError(ErrorCode.invalidParams, `Invalid params for ${method}`)
    }
  }

/** A schema of the kind that the SDK takes, for params that it has already looked at or that are read here. */
const paramsSchema = <A>(
  read: (params: JsonObject) => A | undefined,
  expected: string
): StandardSchemaV1<unknown, A> => ({
  "~standard": {
    version: 1,
    vendor: serverInfo.name,
    validate: (params: unknown) => {
      const value = read(isObject(params) ? params : {})
      return value === undefined ? { issues: [{ message: expected }] } : { value }
    }
  }
})

const callParams = paramsSchema(
  ({ name, arguments: input }) => (typeof name === "string" ? { name, input } : undefined),
  "name must be a string"
)

const taskIdParams = paramsSchema(
  ({ taskId }) => (typeof taskId === "string" ? { taskId } : undefined),
  "taskId must be a string"
)

/** Nothing here asks the SDK to validate by JSON Schema, and its own validator is costly to make. */
const noValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined })
}
