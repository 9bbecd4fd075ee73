/** Times are milliseconds since the epoch and never decide an order; `seq` does. */
export const initial: ReadonlyArray<string> = [
  `CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    owner TEXT,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT`,

  // what tasks were accepted with; most tasks share a row
  `CREATE TABLE settings (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    owner TEXT,
    settings TEXT NOT NULL REFERENCES settings(hash),
    temperature REAL,
    status TEXT NOT NULL DEFAULT 'queued'
      CHECK (status IN ('queued', 'planning', 'running', 'completed', 'failed', 'cancelled')),
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    completed_steps INTEGER NOT NULL DEFAULT 0,
    planned_steps INTEGER NOT NULL DEFAULT 1,
    current_task TEXT NOT NULL DEFAULT '',
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    critical_path_tokens INTEGER NOT NULL DEFAULT 0,
    result TEXT NOT NULL DEFAULT '',
    unclean_ends INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER
  ) STRICT`,
  `CREATE INDEX tasks_of_session ON tasks(session_id)`,
  `CREATE INDEX tasks_queued ON tasks(seq) WHERE status = 'queued'`,
  `CREATE INDEX tasks_live ON tasks(seq) WHERE status IN ('planning', 'running')`,
  `CREATE INDEX tasks_ended ON tasks(ended_at) WHERE ended_at IS NOT NULL`,

  // append-only; task_id is no reference, since a conversation outlives the tasks that made it
  `CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    task_id TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX messages_of_session ON messages(session_id)`,
  `CREATE INDEX messages_of_task ON messages(task_id)`,

  `CREATE TABLE images (
    hash TEXT PRIMARY KEY,
    data BLOB NOT NULL
  ) STRICT`,
  // a message whose images are not to be sent again has no row here
  `CREATE TABLE message_images (
    message_seq INTEGER NOT NULL REFERENCES messages(seq) ON DELETE CASCADE,
    hash TEXT NOT NULL REFERENCES images(hash),
    PRIMARY KEY (message_seq, hash)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX message_images_of_image ON message_images(hash)`,

  // process groups that a task has started; start_time and boot_id tell one from a stranger that got the same id
  `CREATE TABLE processes (
    marker TEXT NOT NULL,
    pgid INTEGER NOT NULL,
    start_time TEXT,
    boot_id TEXT,
    task_id TEXT NOT NULL
  ) STRICT`,

  // hash = SHA-256 of the previous row's hash, a line feed, and this row's body
  `CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT`,
  // how far the audit file was written: set after its lines are on disk
  `CREATE TABLE audit_file (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT`,
  `INSERT INTO audit_file (id, seq, bytes) VALUES (1, 0, 0)`
]
