import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../../../test/support/contract-with.ts'
import type { Field, LogicalType } from '../contract.ts'
import type { JsonValue } from '../json/json.ts'
import { convertValue } from './convert-value.ts'
import { valueError } from './validate-value.ts'

function fieldOf(type: LogicalType, more = ''): Field {
  const field = contractWith(`{name: f, logicalType: ${type}${more}}`).fieldByName.get('f')
  assert.ok(field)
  return field
}

type Case = readonly [
  before: LogicalType,
  value: JsonValue,
  after: LogicalType,
  converted: JsonValue | undefined,
]

const CASES: readonly Case[] = [
  ['string', ' 12 ', 'integer', 12],
  ['string', '5.0', 'integer', 5],
  ['string', '1,234,567', 'number', 1234567],
  ['string', '1,234', 'number', undefined],
  ['string', '0.57', 'number', 0.57],
  ['string', '0x10', 'number', undefined],
  ['string', '123456789012345678', 'number', undefined],
  ['string', '', 'number', null],
  ['string', ' ', 'string', ' '],
  ['string', 'TRUE', 'boolean', true],
  ['string', 'yes', 'boolean', undefined],
  ['string', '2024-02-29', 'date', '2024-02-29'],
  ['string', '31.12.2024', 'date', '2024-12-31'],
  ['string', '01/02/2024', 'date', undefined],
  ['string', '2024-02-29', 'timestamp', '2024-02-29T00:00:00Z'],
  ['string', '2024-02-29T10:00:00+02:00', 'timestamp', '2024-02-29T10:00:00+02:00'],
  ['string', '["a",1]', 'array', ['a', 1]],
  ['string', 'a, b', 'array', ['a, b']],
  ['string', '{"a":1}', 'object', { a: 1 }],
  ['string', '[1]', 'object', undefined],
  ['string', '[12345678901234567890]', 'array', undefined],
  ['number', 1.5, 'string', '1.5'],
  ['number', 2, 'integer', 2],
  ['integer', 2, 'number', 2],
  ['integer', 2, 'boolean', undefined],
  ['integer', 0, 'boolean', false],
  ['integer', 20240101, 'date', undefined],
  ['boolean', true, 'integer', 1],
  ['boolean', false, 'string', 'false'],
  ['date', '2024-02-29', 'timestamp', '2024-02-29T00:00:00Z'],
  ['date', '2024-02-29', 'number', undefined],
  ['timestamp', '2024-02-29T00:00:00Z', 'date', '2024-02-29'],
  ['timestamp', '2024-02-29T00:00:00+02:00', 'date', undefined],
  ['timestamp', '2024-02-29T10:00:00Z', 'date', undefined],
  ['time', '10:00:00', 'string', '10:00:00'],
  ['integer', 5, 'array', [5]],
  ['array', [5], 'integer', 5],
  ['array', ['5'], 'number', 5],
  ['array', [1, 2], 'integer', undefined],
  ['array', ['a'], 'string', 'a'],
  ['array', ['["a"]'], 'string', '["[\\"a\\"]"]'],
  ['array', ['a', 'b'], 'string', '["a","b"]'],
  ['object', { b: 1, a: [] }, 'string', '{"b":1,"a":[]}'],
  ['object', { a: 1 }, 'array', [{ a: 1 }]],
]

test('a value is converted to another type where that says the same, and no further', () => {
  for (const [before, value, type, converted] of CASES) {
    const what = `${JSON.stringify(value)} of ${before} to ${type}`
    assert.deepEqual(convertValue(fieldOf(type), before, value), converted, what)
  }
})

test('a conversion that is not exact is refused by the contract', () => {
  const integer = fieldOf('integer')
  assert.match(valueError(integer, convertValue(integer, 'number', 1.5)) ?? '', /1\.5/)
  assert.match(valueError(fieldOf('time'), convertValue(fieldOf('time'), 'string', 'noon')) ?? '', /noon/)
})

test('a value becomes an array of its items type', () => {
  const numbers = fieldOf('array', ', items: {logicalType: number}')
  assert.deepEqual(convertValue(numbers, 'string', '1.5'), [1.5])
  assert.equal(convertValue(numbers, 'string', 'x'), undefined)
})

test('a value converted to another type and back is the same', () => {
  for (const [before, value, type, converted] of CASES) {
    if (before === 'string' || before === 'array' || converted === undefined || type === 'array') continue
    assert.deepEqual(
      convertValue(fieldOf(before), type, converted),
      value,
      JSON.stringify([before, value, type]),
    )
  }
})
