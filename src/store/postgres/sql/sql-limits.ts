/** What one query may use (D19). */
export interface QueryLimits {
  /** How long it may run, in milliseconds, from when a connection starts on it. */
  readonly timeoutMs: number
  /** How many rows an answer holds at most; what is beyond is cut off and the answer says so. */
  readonly maxRows: number
  /**
   * What PostgreSQL is told of memory: a step of a query sorts or hashes with an eighth of it, and takes four times as
   * much of the disk. PostgreSQL has no limit for a query as a whole, and a value of its can have 1 GiB.
   */
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

/**
 * A row of a user's result may be this long as PostgreSQL sends it, since it comes to the main thread in one piece. A record
 * may be as long as an answer.
 */
export const MAX_ROW_BYTES = 16 * MIB

/** What PostgreSQL may send for one request: bytes come in hexadecimal and are answered shorter. */
export const MAX_RECEIVED_BYTES = 2 * MAX_ANSWER_BYTES

/** A statement or filter may be this long in UTF-8. */
export const MAX_SQL_BYTES = MIB

/** Values that a statement may be sent with. */
export const MAX_PARAMS = 32_766

/** And so many words, numbers and marks, white space among them: they are looked at on the main thread. */
export const MAX_TOKENS = 100_000

/** So many tables, CTEs and subqueries may stand in FROM and JOIN: planning takes long before it can be stopped. */
export const MAX_TABLES = 64

/** Longer names are cut off by PostgreSQL, and then mean something else than they say. */
export const MAX_NAME_BYTES = 63

/** A number of bytes as people read it. */
export function inMebibytes(bytes: number): string {
  return `${Math.round((bytes / MIB) * 10) / 10} MiB`
}
