import { randomUUID } from "node:crypto"
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server"
import Database from "better-sqlite3"

const Input = fromJsonSchema<{ readonly request: string }>({
  type: "object",
  properties: { request: { type: "string" } },
  required: ["request"],
  additionalProperties: false
})

/** A bare server whose one tool answers when one row is on disk. */
export const insertServer = (file: string): (() => McpServer) => {
  const database = new Database(file)
  database.pragma("journal_mode = WAL")
  database.pragma("synchronous = FULL")
  database.exec("CREATE TABLE IF NOT EXISTS tasks (seq INTEGER PRIMARY KEY, id TEXT, request TEXT, created_at INTEGER)")
  const insert = database.prepare("INSERT INTO tasks (id, request, created_at) VALUES (?, ?, ?)")
  return () => {
    const server = new McpServer({ name: "insert", version: "0" })
    server.registerTool("insert", { description: "Keeps the request.", inputSchema: Input }, ({ request }) => {
      const id = randomUUID()
      insert.run(id, request, Date.now())
      return { content: [{ type: "text", text: `task_id: ${id}` }] }
    })
    return server
  }
}
