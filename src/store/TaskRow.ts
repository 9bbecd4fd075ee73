import { Schema } from "effect"
import { SessionId } from "../domain/Session.ts"
import { Task, TaskId, TaskStatus } from "../domain/Task.ts"

const Row = Schema.Struct({
  id: TaskId,
  seq: Schema.Number,
  session_id: SessionId,
  owner: Schema.NullOr(Schema.String),
  status: TaskStatus,
  cancel_requested: Schema.Number,
  completed_steps: Schema.Number,
  planned_steps: Schema.Number,
  current_task: Schema.String,
  input_tokens: Schema.Number,
  output_tokens: Schema.Number,
  critical_path_tokens: Schema.Number,
  result: Schema.String,
  created_at: Schema.Number,
  updated_at: Schema.Number,
  ended_at: Schema.NullOr(Schema.Number)
})

const decode = Schema.decodeUnknownSync(Row)

/** A row of `tasks`; one that does not decode is a broken invariant and throws. */
export const taskOf = (raw: unknown): Task => {
  const row = decode(raw)
  return new Task(
    {
      id: row.id,
      seq: row.seq,
      sessionId: row.session_id,
      owner: row.owner,
      status: row.status,
      cancelRequested: row.cancel_requested !== 0,
      completedSteps: row.completed_steps,
      plannedSteps: row.planned_steps,
      currentTask: row.current_task,
      usage: { input: row.input_tokens, output: row.output_tokens },
      criticalPathTokens: row.critical_path_tokens,
      result: row.result,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      endedAt: row.ended_at
    },
    { disableValidation: true }
  )
}
