import assert from 'node:assert/strict'
import test from 'node:test'
import { examplesFor } from './examples.ts'
import { quoteName } from './editor/sql-words.ts'
import { CONTRACT, contractOf } from './test-contract.ts'

test('examples use the fields of the sheet', () => {
  const examples = examplesFor(CONTRACT)
  assert.deepEqual(
    examples.map(({ name }) => name),
    [
      'The first 100 records',
      'Count by State',
      'Top 10 by Price',
      'Average Price by State',
      'Count by month of Bought on',
      'Most frequent items of Languages',
    ],
  )
  assert.match(examples[2]?.sql ?? '', /^SELECT title, price\n/)
})

test('a sheet with only ids has one example', () => {
  const examples = examplesFor(contractOf([{ name: 'id', logicalType: 'string', primaryKey: true }]))
  assert.equal(examples.length, 1)
})

test('names that are keywords are quoted', () => {
  const examples = examplesFor(
    contractOf([
      { name: 'id', logicalType: 'string', primaryKey: true },
      { name: 'order', logicalType: 'integer' },
    ]),
  )
  assert.match(examples[1]?.sql ?? '', /SELECT id, "order"\n/)
  assert.equal(quoteName('Group'), '"Group"')
  assert.equal(quoteName('name'), 'name')
})

test('examples are in the dialect of the sheet', () => {
  const sqlOf = (dialect: 'sqlite' | 'postgres', name: string) =>
    examplesFor({ ...CONTRACT, dialect }).find((each) => each.name === name)?.sql ?? ''
  assert.match(sqlOf('sqlite', 'Count by month of Bought on'), /strftime\('%Y-%m', bought\)/)
  assert.match(sqlOf('postgres', 'Count by month of Bought on'), /to_char\(bought, 'YYYY-MM'\)/)
  assert.match(sqlOf('sqlite', 'Most frequent items of Languages'), /json_each\(records\.languages\)/)
  assert.match(
    sqlOf('postgres', 'Most frequent items of Languages'),
    /jsonb_array_elements_text\(languages\)/,
  )
})
