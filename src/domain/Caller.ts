/**
 * Who asks. `token` is the name of a further HTTP token, null for the owner: stdio, the commands,
 * the token in the data folder, and HTTP without a token.
 */
export interface Caller {
  readonly token: string | null
  readonly via: "stdio" | "http" | "cli"
}

/** What belongs to another token is answered as if it did not exist; the owner sees everything. */
export const maySee = (caller: Caller, owner: string | null): boolean => caller.token === null || caller.token === owner

/** How the logs name a caller. */
export const nameOf = (caller: Caller): string => `${caller.token ?? "owner"} via ${caller.via}`
