import type { GivenRows } from '../../rows/written-values.ts'

/** Returns rows of integers as a table with columns `column1` and so on: one parameter, however many there are. */
export const givenRows: GivenRows = (rows) => {
  const columns = rows[0]?.map((_, index) => `CAST(value ->> ${index} AS bigint) AS column${index + 1}`) ?? []
  return {
    sql: `(SELECT ${columns.join(', ')} FROM json_array_elements(CAST(?1 AS json)))`,
    params: [JSON.stringify(rows.map((row) => row.map(String)))],
  }
}
