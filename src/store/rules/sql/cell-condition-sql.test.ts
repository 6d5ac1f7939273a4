import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { FILTER_STATES, type FilterState } from '../../cell-state.ts'
import { STATE_INDEXES } from '../../rows/state-tables.ts'
import { FAILED, MISSING, STALE } from '../../rows/stored-rows.ts'
import { CELLS } from '../../sqlite/sql/run-page.ts'
import { CellConditionSql, countRecords, type CellFacts, type CountedTarget } from './cell-condition-sql.ts'

const NONE = { fresh: 0, missing: 0, stale: 0, failed: 0, overridden: 0, blocked: 0 }

/** The records by the state of their cell of the target 1; the cells of target 2 are all fresh. */
const RECORDS: Readonly<Record<FilterState, readonly number[]>> = {
  fresh: [1, 2],
  stale: [3],
  missing: [4, 5],
  failed: [7],
  overridden: [8],
  blocked: [6],
}

function factsOf(target: CountedTarget): CellFacts {
  return { targets: [target], writers: [], fields: [] }
}

function openCells(): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  db.exec(`
    CREATE TABLE "$data" ("$seq" INTEGER PRIMARY KEY);
    CREATE TABLE "$cell" (target INTEGER, record INTEGER, hash BLOB, PRIMARY KEY (target, record)) WITHOUT ROWID;
    CREATE TABLE "$todo" (target INTEGER, record INTEGER, state INTEGER, blocked INTEGER, PRIMARY KEY (target, record)) WITHOUT ROWID;
    ${STATE_INDEXES}
    INSERT INTO "$data" VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9);
    INSERT INTO "$cell" SELECT 2, "$seq", x'02' FROM "$data";
    INSERT INTO "$cell" VALUES (1, 1, x'01'), (1, 2, x'01'), (1, 3, x'01'), (1, 7, x'01'), (1, 8, NULL);
    INSERT INTO "$todo" VALUES (1, 3, ${STALE}, 0), (1, 4, ${MISSING}, 0), (1, 5, ${MISSING}, 0), (1, 6, ${MISSING}, 1), (1, 7, ${FAILED}, 0);
  `)
  return db
}

test('few and many cells in a state select the same records, with every state and any two', (t) => {
  const db = openCells()
  t.after(() => db.close())
  const [few, many] = [1, 1e6].map((count) => {
    const counts = Object.fromEntries(FILTER_STATES.map((state) => [state, count]))
    return new CellConditionSql(factsOf({ ...NONE, ...counts, id: 1, field: 'a' }), CELLS)
  })
  const keysOf = (sql: string): unknown[] =>
    db
      .prepare(`SELECT "$seq" AS key FROM "$data" WHERE ${sql}`)
      .all()
      .map(({ key }) => key)
  for (const first of FILTER_STATES) {
    for (const second of FILTER_STATES) {
      const condition = { kind: 'state', fields: ['a'], states: [first, second] } as const
      const expected = [...new Set([...RECORDS[first], ...RECORDS[second]])].toSorted((a, b) => a - b)
      for (const cells of [few, many]) {
        assert.ok(cells)
        assert.deepEqual(keysOf(cells.compile(condition)), expected, `${first}, ${second}`)
        const counted = db.prepare(countRecords(cells.records(condition))).get()
        assert.equal(counted?.['count'], expected.length)
      }
    }
  }
})

test('states without a cell, and a field that is not derived, select no record', () => {
  const cells = new CellConditionSql(factsOf({ ...NONE, id: 1, field: 'a', fresh: 3 }), CELLS)
  for (const fields of [['a'], ['b'], null])
    assert.equal(cells.compile({ kind: 'state', fields, states: ['failed'] }), 'FALSE')
  assert.equal(cells.count({ kind: 'state', fields: ['b'], states: ['fresh'] }), 0)
  assert.equal(cells.count({ kind: 'state', fields: null, states: ['fresh', 'stale'] }), 3)
})
