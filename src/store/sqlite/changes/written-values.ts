import type { Connection } from '../database/connection.ts'
import { givenRows } from '../database/given-rows.ts'
import { GIVEN_AT_ONCE, writtenRows } from '../../rows/written-values.ts'
import type { FieldNumbers } from '../../rules/written/number-fields.ts'
import { PresentWriters } from '../../rules/written/present-writers.ts'
import type { WrittenValues } from '../../rules/written/written-by.ts'

/** Adds to the counters of a writer, who may be new, and returns its id. */
const COUNT_WRITER = `
  INSERT INTO "$writer" (id, actor, run, cells, parts)
    SELECT coalesce(max(id), 0) + 1, ?, ?, ?, ? FROM "$writer" WHERE TRUE
  ON CONFLICT (actor, run) DO UPDATE SET cells = cells + excluded.cells, parts = parts + excluded.parts RETURNING id`

/** Stores who has written the present values of records, after lines with these. */
export function storeWriters(db: Connection, numbers: FieldNumbers, written: readonly WrittenValues[]): void {
  if (written.length === 0) return
  const present = new PresentWriters(numbers)
  const created = new Set(written.flatMap(({ isNew, record }) => (isNew ? [record] : [])))
  const records = [...new Set(written.map(({ record }) => record)).difference(created)]
  for (const some of groupsOf(records)) present.add(db.query(writtenRows(some, givenRows)))
  for (const values of written) present.write(values)
  const { writers, rows } = present.take()
  const ids = writers.map(({ actor, run, cells, parts }) =>
    Number(db.get(COUNT_WRITER, actor, run ?? 0, cells, parts)?.['id']),
  )
  const stored = rows.map(({ record, part, writer, fields }) => [record, part, ids[writer] ?? 0, fields])
  const [filled, emptied] = [
    stored.filter(([, , , fields]) => fields !== 0),
    stored.filter(([, , , fields]) => fields === 0),
  ]
  for (const some of groupsOf(filled)) {
    const { sql, params } = givenRows(some)
    db.change({
      sql: `INSERT INTO "$written" (record, part, writer, fields) SELECT * FROM ${sql} WHERE TRUE
        ON CONFLICT (record, part, writer) DO UPDATE SET fields = excluded.fields`,
      params,
    })
  }
  for (const some of groupsOf(emptied)) {
    const { sql, params } = givenRows(some.map((row) => row.slice(0, 3)))
    db.change({ sql: `DELETE FROM "$written" WHERE (record, part, writer) IN ${sql}`, params })
  }
  if (writers.some(({ parts }) => parts < 0)) db.run('DELETE FROM "$writer" WHERE parts = 0')
}

/** Yields rows in groups that a statement takes. */
function* groupsOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += GIVEN_AT_ONCE)
    yield rows.slice(start, start + GIVEN_AT_ONCE)
}
