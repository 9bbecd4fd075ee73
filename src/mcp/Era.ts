/** Which of the two ways to speak MCP a message belongs to. */
export type Era = "modern" | "legacy"

/** The version of the modern era; the others belong to the `initialize` era. */
export const modernVersion = "2026-07-28"

/** The request that opens a subscription; only the modern era has it. */
export const listenMethod = "subscriptions/listen"
