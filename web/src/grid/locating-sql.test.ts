import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { locatingSql } from './locating-sql.ts'

const db = new DatabaseSync(':memory:')
db.exec('CREATE TABLE records (id TEXT, name TEXT, area REAL)')
const insert = db.prepare('INSERT INTO records VALUES (?, ?, ?)')
insert.run('a', 'Berlin', 3)
insert.run('b', 'Amsterdam', null)
insert.run('c', 'Cairo', 9)
insert.run('d', 'Amsterdam', 1)

const rowOf = (id: string, filter: string | null, sort: string | null): unknown =>
  db.prepare(locatingSql({ filter, sort })).get(id)?.['row']

test('in creation order, also of a filtered list', () => {
  assert.equal(rowOf('c', null, null), 2)
  assert.equal(rowOf('c', 'area > 1 -- all but d', null), 1)
  assert.equal(rowOf('d', 'area > 1', null), undefined)
})

test('in a sorted list, those without a value last', () => {
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => rowOf(id, null, '-area')),
    [1, 3, 0, 2],
  )
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => rowOf(id, null, 'name,area')),
    [2, 1, 3, 0],
  )
  assert.equal(rowOf('c', 'area IS NOT NULL', 'area'), 2)
})
