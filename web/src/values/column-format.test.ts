import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testField } from '../api/test-field.ts'
import { defaultFormat, parseFormat } from './column-format.ts'

test('years are not grouped, other numbers are', () => {
  const formatOf = (name: string, title = name) => defaultFormat(testField({ name, title, type: 'integer' }))
  for (const name of ['year', 'birth_year', 'year_founded', 'Year']) {
    assert.deepEqual(formatOf(name), { grouping: false }, name)
  }
  assert.deepEqual(formatOf('founded', 'Year of foundation'), { grouping: false })
  for (const name of ['yearly_sales', 'area', 'midyear']) assert.deepEqual(formatOf(name), {}, name)
  assert.deepEqual(defaultFormat(testField({ name: 'year', type: 'string' })), {})
})

test('a stored format loses what is not valid', () => {
  assert.deepEqual(parseFormat({ decimals: 2, grouping: false, utc: true, appearance: 'image' }), {
    decimals: 2,
    grouping: false,
    utc: true,
    appearance: 'image',
  })
  assert.deepEqual(parseFormat({ decimals: 11, grouping: 1, utc: 'yes', appearance: 'html' }), {})
  assert.deepEqual(parseFormat({ decimals: -1 }), {})
  assert.deepEqual(parseFormat(null), {})
})
