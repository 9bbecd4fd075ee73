import manifest from "../../package.json" with { type: "json" }

/** How this server names itself to clients. */
export const serverInfo = { name: manifest.name, version: manifest.version }
