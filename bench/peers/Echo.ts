import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server"

const Input = fromJsonSchema<{ readonly text: string }>({
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false
})

/** A bare server of the SDK with one tool, as its documentation shows it. */
export const echoServer = (): McpServer => {
  const server = new McpServer({ name: "echo", version: "0" })
  server.registerTool("echo", { description: "Gives the text back.", inputSchema: Input }, ({ text }) => ({
    content: [{ type: "text", text }]
  }))
  return server
}
