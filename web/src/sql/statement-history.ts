/** A statement that was run. */
export interface PastStatement {
  readonly sql: string
  /** When, in ISO 8601. */
  readonly at: string
  /** Of the result; null when it came to none. */
  readonly rows: number | null
  /** How long it took. */
  readonly ms: number
}

const KEPT = 50
/** Longer ones would fill what a browser stores. */
const LONGEST = 20_000

/** With one more at the top. The same statement is there once. */
export function withStatement(
  history: readonly PastStatement[],
  statement: PastStatement,
): readonly PastStatement[] {
  const sql = statement.sql.trim()
  if (sql === '' || sql.length > LONGEST) return history
  return [{ ...statement, sql }, ...withoutStatement(history, sql)].slice(0, KEPT)
}

export function withoutStatement(history: readonly PastStatement[], sql: string): readonly PastStatement[] {
  return history.filter((each) => each.sql !== sql)
}

/** What the browser has stored, without what is no statement. */
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
