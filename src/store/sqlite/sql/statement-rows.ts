import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'

/**
 * Yields the rows of a statement as arrays, and resets the statement in the end, however that comes.
 *
 * With node:sqlite alone, a statement that fails between two rows is reset only when it is garbage-collected, which then
 * replaces the current error message of SQLite by its old one: the message of another query contained pieces of freed
 * memory (seen in Node 24.21).
 */
export function* rowsOf(
  statement: StatementSync,
  params: readonly SQLInputValue[],
): Generator<readonly SQLOutputValue[], void> {
  statement.setReturnArrays(true)
  const rows = statement.iterate(...params) as Iterator<unknown> & Iterable<unknown>
  try {
    yield* rows as Iterable<readonly SQLOutputValue[]>
  } finally {
    rows.return?.()
  }
}
