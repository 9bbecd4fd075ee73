/** A line that matches. `path` is relative to the workspace, as the file system has it. */
export interface SearchHit {
  readonly path: Buffer
  readonly line: number
  readonly text: string
}

/** What was found, `hits` in order of path and line; `skipped` says what could not be looked at, and why. */
export interface SearchOutcome {
  readonly hits: ReadonlyArray<SearchHit>
  readonly skipped: ReadonlyArray<string>
  /** Whether the search ended before everything was looked at, and why. */
  readonly stopped: "enough" | "time" | null
}

/** After so many hits a search ends. */
export const MAX_HITS = 100
/** And after so long. */
export const SEARCH_MILLIS = 15_000
