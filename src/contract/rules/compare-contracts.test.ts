import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../../../test/support/contract-with.ts'
import { compareContracts } from './compare-contracts.ts'

/** The names in each list of the change from one set of properties to another; lists without any are left out. */
function changeOf(before: readonly string[], after: readonly string[]): Record<string, string[]> {
  const { retyped, ...lists } = compareContracts(contractWith(...before), contractWith(...after))
  const names = Object.entries({ ...lists, retyped: retyped.map((pair) => pair.after) }).map(
    ([list, fields]) => [list, fields.map((field) => field.name)] as const,
  )
  return Object.fromEntries(names.filter(([, fields]) => fields.length > 0))
}

function optionsChange(type: string, before: string, after: string): Record<string, string[]> {
  return changeOf([`{name: a, logicalType: ${type}${before}}`], [`{name: a, logicalType: ${type}${after}}`])
}

test('D9: an equal contract, another order and other descriptions are no change', () => {
  const a = '{name: a, logicalType: string, description: one}'
  const b = '{name: b, logicalType: integer}'
  assert.deepEqual(changeOf([a, b], [a, b]), {})
  assert.deepEqual(changeOf([a, b], [b, a.replace('one', 'two')]), {})
  assert.deepEqual(optionsChange('string', '', ", x-editable-by: ['user:*'], x-derived: true"), {})
})

test('D9: added, removed, renamed and retyped properties are distinguished', () => {
  const a = '{name: a, logicalType: string}'
  assert.deepEqual(changeOf([], [a]), { added: ['a'] })
  assert.deepEqual(changeOf([a], []), { removed: ['a'] })
  assert.deepEqual(changeOf([a], ['{name: b, logicalType: string}']), { added: ['b'], removed: ['a'] })
  assert.deepEqual(changeOf([a], ['{name: A, logicalType: string}']), { added: ['A'], removed: ['a'] })
  assert.deepEqual(changeOf([a], ['{name: a, logicalType: integer, required: true}']), { retyped: ['a'] })
  assert.deepEqual(changeOf([], ['{name: a, logicalType: string, required: true, unique: true}']), {
    added: ['a'],
  })
})

test('D9: a change of unique is reported separately', () => {
  assert.deepEqual(optionsChange('string', '', ', unique: true'), { uniqueAdded: ['a'] })
  assert.deepEqual(optionsChange('string', ', unique: true', ''), { uniqueRemoved: ['a'] })
})

/** Each is a tightening in this direction and a loosening in the other. */
const TIGHTER: readonly (readonly [type: string, loose: string, tight: string])[] = [
  ['string', '', ', required: true'],
  ['string', '', ', logicalTypeOptions: {minLength: 1}'],
  ['string', ', logicalTypeOptions: {minLength: 1}', ', logicalTypeOptions: {minLength: 2}'],
  ['string', ', logicalTypeOptions: {maxLength: 9}', ', logicalTypeOptions: {maxLength: 8}'],
  ['string', '', ', logicalTypeOptions: {pattern: a}'],
  ['string', '', ', logicalTypeOptions: {format: email}'],
  ['string', '', ', quality: [{metric: invalidValues, arguments: {validValues: [a]}, mustBe: 0}]'],
  [
    'string',
    ', quality: [{metric: invalidValues, arguments: {validValues: [b, a]}, mustBe: 0}]',
    ', quality: [{metric: invalidValues, arguments: {validValues: [a]}, mustBe: 0}]',
  ],
  ['integer', ', logicalTypeOptions: {minimum: 1}', ', logicalTypeOptions: {minimum: 2}'],
  ['integer', ', logicalTypeOptions: {minimum: 1}', ', logicalTypeOptions: {exclusiveMinimum: 1}'],
  ['integer', ', logicalTypeOptions: {format: i16}', ', logicalTypeOptions: {format: i8}'],
  ['number', ', logicalTypeOptions: {format: f64}', ', logicalTypeOptions: {format: f32}'],
  ['number', '', ', logicalTypeOptions: {multipleOf: 5}'],
  ['number', ', logicalTypeOptions: {multipleOf: 0.1}', ', logicalTypeOptions: {multipleOf: 0.5}'],
  ['date', ", logicalTypeOptions: {maximum: '2024-01-02'}", ", logicalTypeOptions: {maximum: '2024-01-01'}"],
  [
    'timestamp',
    ", logicalTypeOptions: {minimum: '2024-01-01T00:00:00+02:00'}",
    ", logicalTypeOptions: {minimum: '2024-01-01T00:00:00Z'}",
  ],
  ['array', '', ', logicalTypeOptions: {uniqueItems: true}'],
  ['array', '', ', items: {logicalType: string}'],
  ['array', ', items: {logicalType: number}', ', items: {logicalType: integer}'],
  ['array', ', items: {logicalType: string}', ', items: {logicalType: string, required: true}'],
  ['object', '', ', logicalTypeOptions: {required: [a]}'],
  ['object', '', ', logicalTypeOptions: {maxProperties: 3}'],
  ['object', '', ', properties: [{name: x, logicalType: string}]'],
  ['object', ', properties: [{name: x}]', ', properties: [{name: x, required: true}]'],
]

test('D9: a change that may refuse stored values is to be checked, one that only allows more is not', () => {
  for (const [type, loose, tight] of TIGHTER) {
    assert.deepEqual(optionsChange(type, loose, tight), { recheck: ['a'] }, `${type}:${loose} to${tight}`)
    assert.deepEqual(optionsChange(type, tight, loose), {}, `${type}:${tight} to${loose}`)
  }
  const patterns = [', logicalTypeOptions: {pattern: a}', ', logicalTypeOptions: {pattern: b}'] as const
  assert.deepEqual(optionsChange('string', ...patterns), { recheck: ['a'] })
})
