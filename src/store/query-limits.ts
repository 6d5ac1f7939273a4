/** What one query may use (D19). */
export interface QueryLimits {
  /** How long it may run, in milliseconds, from when a process or connection starts on it. */
  readonly timeoutMs: number
  /** How many rows an answer holds at most; what is beyond is cut off and the answer says so. */
  readonly maxRows: number
  /** How much memory it may take; what that means to an engine, its own limits say. */
  readonly maxMemoryBytes: number
}

const MIB = 1024 * 1024

export const DEFAULT_QUERY_LIMITS: QueryLimits = {
  timeoutMs: 5000,
  maxRows: 10_000,
  maxMemoryBytes: 384 * MIB,
}

/** The JSON text of an answer may be this long in UTF-8. */
export const MAX_ANSWER_BYTES = 64 * MIB

/** A statement or filter may be this long in UTF-8. */
export const MAX_SQL_BYTES = MIB

/** Values that a statement may be sent with: as many as SQLite numbers (SQLITE_MAX_VARIABLE_NUMBER). */
export const MAX_PARAMS = 32_766

/** A number of bytes as people read it. */
export function inMebibytes(bytes: number): string {
  return `${Math.round((bytes / MIB) * 10) / 10} MiB`
}
