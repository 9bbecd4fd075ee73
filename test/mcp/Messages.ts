const versionKey = "io.modelcontextprotocol/protocolVersion"
const infoKey = "io.modelcontextprotocol/clientInfo"
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

export interface Json {
  readonly [key: string]: unknown
}

const meta = (extensions?: Json) => ({
  [versionKey]: "2026-07-28",
  [infoKey]: { name: "test", version: "1" },
  [capabilitiesKey]: extensions === undefined ? {} : { extensions }
})

/** A request of the 2026-07-28 era, without any extension. */
export const modern = (id: string | number, method: string, params: Json = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params, _meta: meta() }
})

/** A request of the 2026-07-28 era that declares the Tasks extension. */
export const withTasks = (id: string | number, method: string, params: Json = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params, _meta: meta({ "io.modelcontextprotocol/tasks": {} }) }
})

/** A request of the `initialize` era. */
export const legacy = (id: string | number, method: string, params?: Json) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params !== undefined && { params })
})

export const initialize = (id: string | number, protocolVersion: unknown) =>
  legacy(id, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } } as Json)

export const call = (name: string, args?: unknown): Json => ({ name, ...(args !== undefined && { arguments: args }) })
