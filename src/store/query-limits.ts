/** Limits of one query (D19). */
export interface QueryLimits {
  /** Milliseconds that it may run, from when a process or connection starts on it. */
  readonly timeoutMs: number
  /** The most rows of a result, which is truncated after them and says so. */
  readonly maxRows: number
  /** The most bytes of memory, as the limits of each engine define it. */
  readonly maxMemoryBytes: number
}

const MIB = 1024 * 1024

export const DEFAULT_QUERY_LIMITS: QueryLimits = {
  timeoutMs: 5000,
  maxRows: 10_000,
  maxMemoryBytes: 384 * MIB,
}

/** The most bytes of the JSON text of a response in UTF-8. */
export const MAX_RESPONSE_BYTES = 64 * MIB

/** The most bytes of a statement or filter in UTF-8. */
export const MAX_SQL_BYTES = MIB

/** The most parameters of a statement: as many as SQLite numbers (SQLITE_MAX_VARIABLE_NUMBER). */
export const MAX_PARAMS = 32_766

/** Returns a number of bytes in MiB, for messages. */
export function inMebibytes(bytes: number): string {
  return `${Math.round((bytes / MIB) * 10) / 10} MiB`
}
