import assert from 'node:assert/strict'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { BLOCK, countDeleted, deletedBlocksTable, keyAtPosition } from './deleted-blocks.ts'
import { seededRandom } from '../suite/support/random.ts'

const FIND = keyAtPosition('?1', '?2')

/** A database with the tables of deleted records, in which these were deleted one after the other. */
function databaseWith(deleted: Iterable<number>): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  database.exec(
    'CREATE TABLE "$deleted" (record_id TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (record_id, record)); CREATE INDEX "$deleted_record" ON "$deleted" (record)',
  )
  database.exec(deletedBlocksTable('INTEGER', 'STRICT, WITHOUT ROWID'))
  const insert = database.prepare('INSERT INTO "$deleted" VALUES (?1, ?1)')
  const count = database.prepare(countDeleted('?1'))
  database.exec('BEGIN')
  for (const key of deleted) {
    insert.run(key)
    count.run(key)
  }
  database.exec('COMMIT')
  return database
}

function keyAt(find: StatementSync, from: number, skip: number): number {
  return Number(find.get(from, skip)?.['key'])
}

suite('the record at a position', () => {
  test('is found whatever was deleted, within blocks of every level and across their borders', () => {
    const random = seededRandom(7)
    const borders = [0, BLOCK, BLOCK ** 2, 2 * BLOCK ** 2 + BLOCK, BLOCK ** 3]
    const near = borders.flatMap((border) => Array.from({ length: 40 }, () => border + random.below(60) - 30))
    const run = Array.from({ length: 3 * BLOCK }, (_, index) => 5000 + index)
    const gone = [...new Set([...near, ...run])].filter((key) => key > 0).toSorted((a, b) => a - b)
    const find = databaseWith(gone).prepare(FIND)
    const deletedUpTo = (key: number): number => gone.filter((deleted) => deleted <= key).length
    const starts = [0, 1, 30, 4999, 5000, 6000, BLOCK ** 2 - 3, BLOCK ** 3 + 5]
    for (const from of starts) {
      for (const skip of [
        1,
        2,
        5,
        31,
        BLOCK,
        4998,
        5001,
        9000,
        BLOCK ** 2,
        BLOCK ** 3 - 7000,
        BLOCK ** 3 + 9,
      ]) {
        const key = keyAt(find, from, skip)
        const passed = key - from - (deletedUpTo(key) - deletedUpTo(from))
        assert.equal(passed, skip, `${skip} after ${from}: at ${key}`)
      }
    }
  })

  test('is found with counts of records that were deleted before these counts existed', () => {
    const gone = Array.from({ length: 5000 }, (_, index) => 10 + 3 * index)
    const database = databaseWith(gone)
    const counted = database.prepare('SELECT * FROM "$deleted_block" ORDER BY level, block').all()
    database.exec(`DROP TABLE "$deleted_block"; ${deletedBlocksTable('INTEGER', 'STRICT, WITHOUT ROWID')}`)
    assert.deepEqual(database.prepare('SELECT * FROM "$deleted_block" ORDER BY level, block').all(), counted)
  })

  test('is found with one statement that reads ranges of at most one block', () => {
    const database = databaseWith(Array.from({ length: 20_000 }, (_, index) => 100 + index))
    const steps = database
      .prepare(`EXPLAIN QUERY PLAN ${FIND}`)
      .all(0, 150)
      .map(({ detail }) => String(detail))
    const reads = steps.filter((step) => step.includes('$deleted') || step.includes('counted'))
    assert.ok(reads.length > 0)
    for (const step of reads) {
      assert.match(
        step,
        /^SEARCH .* USING (PRIMARY KEY \(level=\?|COVERING INDEX \S+ \(record>\? AND record<\?\))/,
        step,
      )
    }
    assert.equal(keyAt(database.prepare(FIND), 0, 150), 20_150)
  })
})
