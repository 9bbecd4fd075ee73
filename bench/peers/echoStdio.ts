import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { echoServer } from "./Echo.ts"

serveStdio(echoServer)
