import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { insertServer } from "./Insert.ts"

serveStdio(insertServer(process.argv[2]!))
