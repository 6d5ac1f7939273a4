import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'

/**
 * The rows of a statement as arrays, and the statement at rest in the end, however that comes.
 *
 * With node:sqlite alone a statement that fails between two rows stays as it is until the garbage collector takes it,
 * and then puts its old fault in the place of whatever SQLite is saying at that moment: the message of another query
 * had pieces of freed memory in it (seen in Node 24.21).
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
