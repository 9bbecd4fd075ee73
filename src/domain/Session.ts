import { Schema } from "effect"

/** A conversation's id: a UUID in lower case. */
export const SessionId = Schema.UUID.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

/**
 * A conversation with the agent, bound to the workspace of its first task.
 * `owner` is the name of the token that created it, null for the owner of the machine.
 */
export class Session extends Schema.Class<Session>("Session")({
  id: SessionId,
  workspace: Schema.String,
  owner: Schema.NullOr(Schema.String),
  createdAt: Schema.Number
}) {}
