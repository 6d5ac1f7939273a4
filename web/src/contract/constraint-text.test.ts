import assert from 'node:assert/strict'
import test from 'node:test'
import { toSheetContract, type ContractDocument, type SheetField } from '../api/contract.ts'
import { constraintsOf, writersText } from './constraint-text.ts'

type Property = ContractDocument['schema'][0]['properties'][number]

function fieldOf(property: Partial<Property>): SheetField {
  const [field] = toSheetContract({
    schema: [{ name: 'sheet', properties: [{ name: 'a', logicalType: 'string', ...property }] }],
  }).fields
  assert.ok(field)
  return field
}

function wordsOf(logicalType: Property['logicalType'], logicalTypeOptions: SheetField['options']): string[] {
  return constraintsOf(fieldOf({ logicalType, logicalTypeOptions })).flatMap((each) =>
    each.kind === 'words' ? [each.text] : [],
  )
}

test('required, unique and key', () => {
  const words = constraintsOf(fieldOf({ primaryKey: true, required: true }))
  assert.deepEqual(
    words,
    ['identifies the record', 'required', 'unique'].map((text) => ({ kind: 'words', text })),
  )
  assert.deepEqual(constraintsOf(fieldOf({})), [])
})

test('lengths and counts', () => {
  assert.deepEqual(wordsOf('string', { minLength: 1, maxLength: 100 }), ['1 to 100 characters'])
  assert.deepEqual(wordsOf('string', { minLength: 2, maxLength: 2 }), ['exactly 2 characters'])
  assert.deepEqual(wordsOf('string', { minLength: 0 }), [])
  assert.deepEqual(wordsOf('string', { minLength: 0, maxLength: 1 }), ['at most 1 character'])
  assert.deepEqual(wordsOf('array', { minItems: 1, uniqueItems: true }), ['at least 1 item', 'unique items'])
  assert.deepEqual(wordsOf('object', { maxProperties: 2, required: ['x', 'y'] }), [
    'at most 2 properties',
    'has x, y',
  ])
})

test('bounds of numbers', () => {
  assert.deepEqual(wordsOf('integer', { minimum: 0, maximum: 4 }), ['from 0 to 4'])
  assert.deepEqual(wordsOf('number', { exclusiveMinimum: 0, maximum: 20_000_000 }), [
    'above 0',
    'at most 20,000,000',
  ])
  assert.deepEqual(wordsOf('number', { minimum: -1, multipleOf: 0.01 }), [
    'at least -1',
    'a multiple of 0.01',
  ])
  assert.deepEqual(wordsOf('number', { exclusiveMaximum: 1 }), ['below 1'])
})

test('exclusive bounds as version 3.0 has them', () => {
  assert.deepEqual(
    wordsOf('number', { minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }),
    ['above 0', 'at most 9'],
  )
})

test('bounds of dates', () => {
  assert.deepEqual(wordsOf('date', { minimum: '1990-01-01' }), ['not before 1990-01-01'])
  assert.deepEqual(wordsOf('date', { minimum: '1990-01-01', exclusiveMaximum: '2030-01-01' }), [
    'not before 1990-01-01',
    'before 2030-01-01',
  ])
})

test('formats that are checked, and not those that demand nothing', () => {
  assert.deepEqual(wordsOf('string', { format: 'email' }), ['an e-mail address'])
  assert.deepEqual(wordsOf('string', { format: 'password' }), [])
  assert.deepEqual(wordsOf('integer', { format: 'u16' }), ['not negative, 16 bits'])
  assert.deepEqual(wordsOf('date', { format: 'yyyy-MM-dd' }), [])
})

test('closed lists and patterns are not words', () => {
  const field = fieldOf({
    logicalTypeOptions: { pattern: '^[A-Z]$' },
    quality: [{ metric: 'invalidValues', arguments: { validValues: ['A', 'B'] } }],
  })
  assert.deepEqual(constraintsOf(field), [
    { kind: 'values', values: ['A', 'B'] },
    { kind: 'pattern', pattern: '^[A-Z]$' },
  ])
})

test('who may write', () => {
  const derived = { derivation: 'x.yaml', kind: 'http', inputs: [] }
  assert.equal(writersText(fieldOf({})), 'anybody')
  assert.equal(writersText(fieldOf({ derived })), 'read-only')
  assert.equal(writersText(fieldOf({ 'x-editable-by': [] })), 'read-only')
  assert.equal(writersText(fieldOf({ 'x-editable-by': ['human:*', '*'] })), 'anybody')
  assert.equal(writersText(fieldOf({ 'x-editable-by': ['human:*'], derived })), 'human:*')
  assert.equal(writersText(fieldOf({ 'x-editable-by': ['a', 'b', 'c'] })), 'a, b or c')
})
