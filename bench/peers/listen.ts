import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server"

/** Serves `factory` at `/mcp` on loopback with no more between Node and the SDK than it takes. */
export const listen = (factory: McpServerFactory): void => {
  const handler = createMcpHandler(factory)
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", async () => {
      const body = Buffer.concat(chunks).toString("utf8")
      const answer = await handler.fetch(
        new Request("http://127.0.0.1/mcp", {
          method: "POST",
          headers: request.headers as Record<string, string>,
          body
        }),
        { parsedBody: JSON.parse(body) }
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
  })
  server.listen(0, "127.0.0.1", () => {
    process.stderr.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`)
  })
  process.on("SIGTERM", () => process.exit(0))
}
