/** A statement that was run. */
export interface PastStatement {
  readonly sql: string
  /** The time in ISO 8601. */
  readonly at: string
  /** The number of rows; null for a failed statement. */
  readonly rows: number | null
  /** The duration in milliseconds. */
  readonly ms: number
}

const KEPT = 50
/** The maximum length of a stored statement. */
const MAX_LENGTH = 20_000

/** Adds a statement at the top and removes earlier copies. */
export function withStatement(
  history: readonly PastStatement[],
  statement: PastStatement,
): readonly PastStatement[] {
  const sql = statement.sql.trim()
  if (sql === '' || sql.length > MAX_LENGTH) return history
  return [{ ...statement, sql }, ...withoutStatement(history, sql)].slice(0, KEPT)
}

export function withoutStatement(history: readonly PastStatement[], sql: string): readonly PastStatement[] {
  return history.filter((each) => each.sql !== sql)
}

/** Parses the stored history, omitting invalid entries. */
export function parseHistory(value: unknown): readonly PastStatement[] {
  return Array.isArray(value) ? value.filter(isStatement).slice(0, KEPT) : []
}

function isStatement(value: unknown): value is PastStatement {
  if (typeof value !== 'object' || value === null) return false
  const { sql, at, rows, ms } = value as Record<string, unknown>
  return (
    typeof sql === 'string' &&
    typeof at === 'string' &&
    !Number.isNaN(Date.parse(at)) &&
    (rows === null || typeof rows === 'number') &&
    typeof ms === 'number'
  )
}
