import { Effect } from "effect"
import { run } from "../mcp/Stdio.ts"

/** MCP on this process's stdin and stdout, until stdin ends. */
export const stdio = Effect.as(run, 0)
