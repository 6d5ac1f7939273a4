import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import { createSheetDatabase, field } from '../../../../test/support/sheet-database.ts'
import type { Field, LogicalType } from '../../../contract/contract.ts'
import { recordJsonExpression } from './json-columns.ts'

/** The JSON text of the only record of a database with these fields and values. */
function recordJson(fields: readonly Field[], values: readonly SQLInputValue[], alias?: string): string {
  const database = createSheetDatabase(fields)
  try {
    database.insert(...values)
    const from = alias === undefined ? '"$data"' : `"$data" AS "${alias}"`
    return String(
      database.writer.prepare(`SELECT ${recordJsonExpression(fields, alias)} AS json FROM ${from}`).get()?.[
        'json'
      ],
    )
  } finally {
    database.remove()
  }
}

const VALUES: readonly (readonly [LogicalType, SQLInputValue, unknown])[] = [
  ['string', 'plain', 'plain'],
  ['string', '', ''],
  ['string', `"quoted" \\ / 'single'`, `"quoted" \\ / 'single'`],
  ['string', '\u0001\b\t\n\f\r\u001f\u007f\u2028\u2029', '\u0001\b\t\n\f\r\u001f\u007f\u2028\u2029'],
  ['string', 'é 漢 😀', 'é 漢 😀'],
  ['string', '{"not":"json"}', '{"not":"json"}'],
  ['string', 'null', 'null'],
  ['string', '%s %d', '%s %d'],
  ['string', null, null],
  ['integer', 0, 0],
  ['integer', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ['integer', Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  ['integer', null, null],
  ['number', 180, 180],
  ['number', 0.1 + 0.2, 0.1 + 0.2],
  ['number', -1 / 3, -1 / 3],
  ['number', 1e300, 1e300],
  ['number', 5e-324, 5e-324],
  ['number', Number.MAX_VALUE, Number.MAX_VALUE],
  ['number', null, null],
  ['boolean', 1, true],
  ['boolean', 0, false],
  ['boolean', null, null],
  ['date', '2024-02-29', '2024-02-29'],
  ['timestamp', '2024-02-29T12:00:00.5+02:00', '2024-02-29T12:00:00.5+02:00'],
  ['time', '12:00:00', '12:00:00'],
  ['time', null, null],
  ['array', '[]', []],
  ['array', '[1,"é\\"",null,{"a":[]}]', [1, 'é"', null, { a: [] }]],
  ['array', null, null],
  ['object', '{"b":1,"a":{"c":false}}', { b: 1, a: { c: false } }],
  ['object', null, null],
]

for (const [type, stored, expected] of VALUES) {
  test(`D12: the JSON of a record holds the ${type} ${JSON.stringify(stored)} exactly`, () => {
    const json = recordJson([field('id', 'string'), field('value', type)], ['r1', stored])
    assert.deepEqual(JSON.parse(json), { id: 'r1', value: expected })
  })
}

test('D12: the JSON of a record has its fields in the requested order', () => {
  const fields = [
    field('id', 'string'),
    field('n', 'integer'),
    field('flag', 'boolean'),
    field('tags', 'array'),
  ]
  const database = createSheetDatabase(fields)
  database.insert('r1', 7, 1, '["a"]')
  const some = [fields[3], fields[0], fields[2]].filter((each) => each !== undefined)
  const row = database.writer.prepare(`SELECT ${recordJsonExpression(some)} AS json FROM records`).get()
  assert.equal(row?.['json'], '{"tags":["a"],"id":"r1","flag":true}')
  assert.equal(recordJsonExpression([]), "'{}'")
  database.remove()
})

test('D5: fields named like SQL keywords are ordinary fields', () => {
  const fields = ['id', 'select', 'from', 'order', 'group', 'null', 'json', 'rowid', '_'].map((name) =>
    field(name, 'string'),
  )
  const values = fields.map(({ name }) => `the ${name}`)
  assert.deepEqual(Object.values(JSON.parse(recordJson(fields, values, 'where')) as object), values)
})

for (const count of [499, 500, 501, 1000]) {
  test(`a record of ${count} fields fits into the limits on arguments and expression depth`, () => {
    const types: readonly LogicalType[] = ['string', 'integer', 'number', 'boolean', 'array']
    const fields = Array.from({ length: count }, (_, index) =>
      index === 0 ? field('id', 'string') : field(`f${index}`, types[index % types.length] ?? 'string'),
    )
    const stored = { string: 'x', integer: 1, number: 1.5, boolean: 1, array: '[1]' } as Record<
      string,
      SQLInputValue
    >
    const database = createSheetDatabase(fields)
    database.insert(...fields.map(({ type }) => stored[type] ?? null))
    const strict = new DatabaseSync(database.path, { readOnly: true, limits: { exprDepth: 20 } })
    const json = strict
      .prepare(`SELECT ${recordJsonExpression(fields, 'records')} AS json FROM records`)
      .get()?.['json']
    const record = JSON.parse(String(json)) as Record<string, unknown>
    assert.deepEqual(
      Object.keys(record),
      fields.map(({ name }) => name),
    )
    assert.equal(record[`f${count - 1}`] !== null, true)
    strict.close()
    database.remove()
  })
}
