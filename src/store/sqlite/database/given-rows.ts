import type { GivenRows } from '../../rows/written-values.ts'

/** Returns rows of integers as a table with columns `column1` and so on. */
export const givenRows: GivenRows = (rows) => {
  let place = 0
  const values = rows.map((row) => `(${row.map(() => `?${(place += 1)}`).join(', ')})`)
  return { sql: `(VALUES ${values.join(', ')})`, params: rows.flat() }
}
