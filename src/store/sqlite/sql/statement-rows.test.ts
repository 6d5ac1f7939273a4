import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { rowsOf } from './statement-rows.ts'

suite('the rows of a statement', () => {
  test('are arrays, with the parameters bound, and end where their reader stops', () => {
    const database = new DatabaseSync(':memory:')
    assert.deepEqual([...rowsOf(database.prepare('SELECT ?, 2 UNION ALL SELECT 3, 4'), ['a'])], [['a', 2], [3, 4]]) // prettier-ignore
    const statement = database.prepare('SELECT 1 UNION ALL SELECT 2')
    for (const row of rowsOf(statement, [])) {
      assert.deepEqual(row, [1])
      break
    }
    // At rest: it starts over.
    assert.deepEqual([...rowsOf(statement, [])], [[1], [2]])
    database.close()
  })

  test('of a failing statement leave nothing that would appear in the message of another', () => {
    const database = new DatabaseSync(':memory:')
    // Long, so that making the message collects what the failed ones have left.
    const long = 'x'.repeat(900_000)
    for (let round = 0; round < 300; round += 1) {
      for (let failing = 0; failing < 5; failing += 1) {
        const statement = database.prepare('SELECT abs(-9223372036854775808)')
        assert.throws(() => [...rowsOf(statement, [])], { message: 'integer overflow' })
      }
      assert.throws(
        () => database.prepare(`SELECT ${long}`),
        // Not compared as a whole: a difference would be printed.
        (error) => error instanceof Error && error.message === `no such column: ${long}`,
      )
    }
    database.close()
  })
})
