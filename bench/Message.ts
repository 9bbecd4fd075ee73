const VERSION = "2026-07-28"

/** A JSON-RPC request of MCP 2026-07-28 from a client without extensions. */
export const message = (id: number, method: string, params: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method,
    params: {
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": { name: "bench", version: "0" },
        "io.modelcontextprotocol/clientCapabilities": {}
      }
    }
  })

/** A tool with its arguments. */
export interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export const callMessage = (id: number, call: Call): string => message(id, "tools/call", { ...call })

/** What goes with it over HTTP. */
export const headersOf = (call: Call, token: string | null): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": VERSION,
  "mcp-method": "tools/call",
  "mcp-name": call.name,
  ...(token === null ? {} : { authorization: `Bearer ${token}` })
})
