import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testField } from '../api/test-field.ts'
import { formatValue } from './format-value.ts'
import {
  allowsEmptyText,
  copyText,
  itemText,
  parseText,
  SHOWN_NOTATION,
  shownValue,
  splitItems,
  unparsedError,
} from './value-text.ts'
import type { FieldType } from '../api/contract.ts'

function valueOf(type: FieldType, text: string): unknown {
  const parsed = parseText({ type }, text)
  assert.ok('value' in parsed, `${text}: ${JSON.stringify(parsed)}`)
  return parsed.value
}

function errorOf(type: FieldType, text: string): string {
  const parsed = parseText({ type }, text)
  assert.ok('error' in parsed, `${text} means ${JSON.stringify(parsed)}`)
  return parsed.error
}

test('numbers are parsed if they are unambiguous', () => {
  const numbers: Readonly<Record<string, number>> = {
    '5': 5,
    ' -1.5 ': -1.5,
    '+5': 5,
    '.5': 0.5,
    '1e3': 1000,
    '1.234': 1.234,
    '1,5': 1.5,
    '0,123': 0.123,
    '1234,567': 1234.567,
    '1,234.5': 1234.5,
    '1.234,5': 1234.5,
    '1,234,567': 1234567,
    '1.234.567': 1234567,
    '1 234 567': 1234567,
    '1\u00a0234,5': 1234.5,
    '1\u202f234': 1234,
    "1'234.5": 1234.5,
    '1’234’567': 1234567,
    '\u22125': -5,
    '-0': 0,
    '83,601': 83601,
    '83.601': 83.601,
    $9: 9,
    '-$1,234.50': -1234.5,
    '5 €': 5,
    '1,5 EUR': 1.5,
    '12%': 0.12,
    '7 %': 0.07,
  }
  for (const [text, value] of Object.entries(numbers))
    assert.ok(Object.is(valueOf('number', text), value), text)
})

test('three digits after a single sign are read as the grid shows them, or as the column does', () => {
  const comma = { ...SHOWN_NOTATION, decimal: 'comma' } as const
  assert.deepEqual(parseText({ type: 'number' }, '83,601', comma), { value: 83.601 })
  assert.deepEqual(parseText({ type: 'number' }, '83.601', comma), { value: 83601 })
  assert.equal(valueOf('integer', '-12,500'), -12500)
  assert.equal(valueOf('integer', '83.601'), 83601, 'a whole number has no fraction')
})

test('what the grid shows is parsed back', () => {
  for (const value of [0, 999, 83600, 1234567, -45000.25, 0.001]) {
    assert.equal(valueOf('number', formatValue('number', value)), value)
  }
  const moment = '2022-06-19T03:11:12Z'
  assert.equal(Date.parse(String(valueOf('timestamp', formatValue('timestamp', moment)))), Date.parse(moment))
  assert.deepEqual(parseText({ type: 'array', itemType: 'string' }, formatValue('array', ['new', 'other'])), {
    value: ['new', 'other'],
  })
})

test('an invalid number is not guessed', () => {
  for (const text of [
    'abc',
    '$',
    '%',
    '5 apples',
    '1,23,456',
    '1 23',
    '1,234 567',
    '0x10',
    'NaN',
    'Infinity',
    '-',
    '1-2',
    '1e',
    '.',
  ]) {
    assert.match(errorOf('number', text), /not a number/, text)
  }
})

test('numbers that JSON cannot represent are refused rather than changed', () => {
  assert.match(errorOf('number', '1e999'), /too large/)
  assert.match(errorOf('integer', '9007199254740993'), /more digits/)
  assert.match(errorOf('number', '0.1234567890123456789'), /more digits/)
  assert.equal(valueOf('number', '0.10000000000000001'), 0.1)
  assert.equal(valueOf('integer', '9007199254740991'), 9007199254740991)
})

test('the server checks whether a number fits its field', () => {
  assert.equal(valueOf('integer', '1.5'), 1.5)
})

test('booleans are accepted as spreadsheets copy them', () => {
  assert.equal(valueOf('boolean', 'TRUE'), true)
  assert.equal(valueOf('boolean', ' false '), false)
  for (const text of ['yes', 'Y', '1', 't', 'on', '✓']) assert.equal(valueOf('boolean', text), true)
  for (const text of ['no', '0', 'off']) assert.equal(valueOf('boolean', text), false)
  for (const text of ['WAHR', '2', 'x']) assert.match(errorOf('boolean', text), /neither TRUE nor FALSE/)
})

test('dates, times and timestamps are parsed in common notations', () => {
  assert.equal(valueOf('date', ' 2024-02-29 '), '2024-02-29')
  for (const text of ['2023-02-29', '32.1.2024', '3/4/24', '2024-13-01', '2024-1-1', '2024-03-10 10:00']) {
    assert.match(errorOf('date', text), /not a date such as/, text)
  }
  assert.equal(valueOf('timestamp', '2024-03-10 14:22:35+01:00'), '2024-03-10T14:22:35+01:00')
  assert.equal(valueOf('timestamp', '2024-03-10T14:22Z'), '2024-03-10T14:22Z')
  for (const text of ['soon', '2024-03-10T25:00Z', '2024-02-30T10:00Z']) {
    assert.match(errorOf('timestamp', text), /not a timestamp/, text)
  }
  assert.equal(valueOf('date', '19.4.2022'), '2022-04-19')
  assert.equal(valueOf('date', '4/19/2022'), '2022-04-19')
  assert.equal(valueOf('date', '10 March 2024'), '2024-03-10')
  const dayFirst = { ...SHOWN_NOTATION, order: 'dmy' } as const
  assert.deepEqual(parseText({ type: 'date' }, '4/5/2022', dayFirst), { value: '2022-05-04' })
  assert.equal(valueOf('time', '14:22'), '14:22')
  assert.equal(valueOf('time', '2:30 pm'), '14:30:00')
  assert.equal(valueOf('time', '12 am'), '00:00:00')
  assert.equal(valueOf('time', '9:05'), '09:05:00')
  for (const text of ['14', '13 pm', '25:00', 'noon']) assert.match(errorOf('time', text), /not a time/)
})

test('arrays and objects are JSON of their type', () => {
  assert.deepEqual(valueOf('array', '["a", 1]'), ['a', 1])
  assert.deepEqual(valueOf('object', '{"a": {}}'), { a: {} })
  assert.match(errorOf('array', '["a"'), /not JSON/)
  assert.match(errorOf('array', '{}'), /not a JSON array/)
  assert.match(errorOf('object', '[]'), /not a JSON object/)
  assert.match(errorOf('object', '5'), /not a JSON object/)
})

test('lists of texts and numbers need no JSON; an item with a comma is quoted', () => {
  const list = (text: string, itemType: FieldType = 'string'): unknown =>
    parseText({ type: 'array', itemType }, text)
  assert.deepEqual(list('new, other'), { value: ['new', 'other'] })
  assert.deepEqual(list('a\nb,,c '), { value: ['a', 'b', 'c'] })
  assert.deepEqual(list('"Smith, John", Ann'), { value: ['Smith, John', 'Ann'] })
  assert.deepEqual(list('["a, b"]'), { value: ['a, b'] })
  assert.deepEqual(list('1, 2.5', 'number'), { value: [1, 2.5] })
  assert.match(errorOf('array', 'a, b'), /not JSON/, 'items of an unknown type')
  for (const item of ['plain', 'Smith, John', 'say "hi", please', '"quoted"']) {
    assert.deepEqual(splitItems(itemText(item)), [item])
  }
})

test('an empty text is no value, for every type', () => {
  for (const type of ['string', 'integer', 'boolean', 'date', 'array', 'object'] as const) {
    assert.equal(valueOf(type, ''), null)
  }
  assert.equal(valueOf('string', ' '), ' ')
  assert.equal(valueOf('number', ' '), null)
})

test('copied values are parsed back', () => {
  const cells: readonly (readonly [FieldType, unknown])[] = [
    ['string', 'a\tb'],
    ['integer', -5],
    ['number', 1e21],
    ['number', 0.1],
    ['boolean', true],
    ['date', '2024-01-31'],
    ['array', ['a', 'b "c"']],
    ['object', { a: [1, null] }],
    ['string', null],
  ]
  for (const [type, value] of cells) assert.deepEqual(valueOf(type, copyText(value) ?? ''), value)
})

test('the text of an abandoned edit is invalid for other types', () => {
  assert.match(unparsedError({ type: 'number' }, 'abc') ?? '', /not a number/)
  assert.match(unparsedError({ type: 'date' }, 5) ?? '', /type date/)
  assert.equal(unparsedError({ type: 'date' }, 'soon'), null, 'a text of the right kind is for the server')
  assert.equal(unparsedError({ type: 'number' }, null), null)
  assert.match(unparsedError({ type: 'array' }, '[1') ?? '', /not JSON/)
  assert.match(unparsedError({ type: 'object' }, []) ?? '', /type object/)
})

test('messages show shortened values', () => {
  assert.equal(shownValue(null), 'no value')
  assert.equal(shownValue(''), '""')
  assert.ok(shownValue('x'.repeat(500)).length < 70)
  assert.ok(shownValue(Array(500).fill(1)).length < 70)
})

test('an empty text is offered only if the contract may allow it', () => {
  assert.equal(allowsEmptyText(testField({ name: 'a' })), true)
  assert.equal(allowsEmptyText(testField({ name: 'a', type: 'string', options: { minLength: 1 } })), false)
  assert.equal(
    allowsEmptyText(testField({ name: 'a', type: 'string', options: { pattern: '^[A-Z]{3}$' } })),
    false,
  )
  assert.equal(
    allowsEmptyText(testField({ name: 'a', type: 'string', options: { pattern: '^[A-Z]*$' } })),
    true,
  )
  assert.equal(allowsEmptyText(testField({ name: 'a', type: 'string', options: { pattern: '(?i)a' } })), true)
  assert.equal(allowsEmptyText(testField({ name: 'a', type: 'string', options: { format: 'email' } })), false)
  assert.equal(allowsEmptyText(testField({ name: 'a', type: 'string', values: ['x', ''] })), true)
  assert.equal(allowsEmptyText(testField({ name: 'a', type: 'string', values: ['x'] })), false)
  assert.equal(allowsEmptyText(testField({ name: 'a', type: 'integer' })), false)
})
