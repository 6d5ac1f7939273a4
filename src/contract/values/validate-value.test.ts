import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith, fieldWith } from '../../../test/support/contract-with.ts'
import type { Field } from '../contract.ts'
import { coerceComputed, valueError } from './validate-value.ts'

function accepts(field: Field, ...values: readonly unknown[]): void {
  for (const value of values) assert.equal(valueError(field, value), null)
}

function refuses(field: Field, fault: RegExp, ...values: readonly unknown[]): void {
  for (const value of values) assert.match(valueError(field, value) ?? `no fault in ${String(value)}`, fault)
}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

test('D6: each type accepts its own values and no others', () => {
  const values = { text: 'a', whole: 1, part: 1.5, yes: true, list: [], map: {} }
  const takes: Record<string, readonly (keyof typeof values)[]> = {
    string: ['text'],
    integer: ['whole'],
    number: ['whole', 'part'],
    boolean: ['yes'],
    date: [],
    timestamp: [],
    time: [],
    array: ['list'],
    object: ['map'],
  }
  for (const [type, names] of Object.entries(takes)) {
    for (const [name, value] of Object.entries(values)) {
      const fits = names.includes(name as keyof typeof values)
      assert.equal(valueError(fieldWith(type), value) === null, fits, `${name} for ${type}`)
    }
  }
})

test('D6: null violates a required field only', () => {
  accepts(fieldWith('string'), null, undefined)
  refuses(fieldWith('string', 'required: true'), /^null, but a value is required$/, null, undefined)
})

test('D6: a date is a day of the calendar', () => {
  const field = fieldWith('date')
  accepts(field, '2024-02-29', '2000-02-29', '0000-01-01', '9999-12-31')
  refuses(
    field,
    /is not a date \(YYYY-MM-DD\)/,
    '2023-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-01-00',
  )
  refuses(
    field,
    /is not a date/,
    '2024-1-1',
    '24-01-01',
    '2024-01-01T00:00:00Z',
    '2024-01-01\n',
    '',
    20240101,
  )
})

test('D6: a timestamp is ISO 8601 with an offset', () => {
  const field = fieldWith('timestamp')
  accepts(field, '2024-03-10T14:22:35Z', '2024-03-10T14:22:35.123456789+05:30', '2024-03-10T14:22-00:00')
  accepts(field, '2016-12-31T23:59:60Z', '2017-01-01T00:59:60+01:00')
  refuses(
    field,
    /is not a timestamp/,
    '2024-03-10T14:22:35',
    '2024-03-10 14:22:35Z',
    '2024-03-10',
    '2024-03-10t14:22:35z',
  )
  refuses(field, /is not a timestamp/, '2024-03-10T24:00:00Z', '2024-03-10T14:60:00Z', '2024-03-10T14:22:60Z')
  refuses(
    field,
    /is not a timestamp/,
    '2024-02-30T00:00:00Z',
    '2024-03-10T14:22:35+24:00',
    '2024-03-10T14:22:35+0100',
  )
})

test('D6: a time is a time of day, with or without offset', () => {
  accepts(fieldWith('time'), '08:30:00', '08:30', '23:59:59.999', '08:30:00Z', '08:30:00+02:00')
  refuses(fieldWith('time'), /is not a time/, '8:30', '24:00:00', '08:60', '08:30:00 ', 'T08:30')
})

test('D6: bounds on numbers, dates and moments hold', () => {
  const number = fieldWith('number', 'logicalTypeOptions: {minimum: 0, exclusiveMaximum: 10}')
  accepts(number, 0, 9.99)
  refuses(number, /^-1 is too low: must be at least 0$/, -1)
  refuses(number, /^10 is too high: must be less than 10$/, 10)
  const date = fieldWith(
    'date',
    "logicalTypeOptions: {exclusiveMinimum: '2024-01-01', maximum: '2024-12-31'}",
  )
  accepts(date, '2024-01-02', '2024-12-31')
  refuses(date, /too low: must be more than 2024-01-01/, '2024-01-01', '2023-12-31')
  refuses(date, /too high: must be at most 2024-12-31/, '2025-01-01')
  const moment = fieldWith('timestamp', "logicalTypeOptions: {minimum: '2024-01-01T00:00:00Z'}")
  accepts(moment, '2024-01-01T00:00:00Z', '2024-01-01T01:00:00+01:00', '2023-12-31T23:00:00.0-01:00')
  refuses(
    moment,
    /too low/,
    '2024-01-01T00:30:00+01:00',
    '2023-12-31T23:59:59.999999999Z',
    '0001-01-01T00:00:00Z',
  )
  const exact = fieldWith('time', "logicalTypeOptions: {exclusiveMinimum: '10:00:00.5'}")
  accepts(exact, '10:00:00.51', '10:00:00.500001', '10:00:01')
  refuses(exact, /too low/, '10:00:00.5', '10:00:00.50', '10:00:00.4999999', '10:00', '12:00:00.5+02:00')
})

test('D6: steps are decimal, so 0.3 is a multiple of 0.1', () => {
  const tenths = fieldWith('number', 'logicalTypeOptions: {multipleOf: 0.1}')
  accepts(tenths, 0, 0.3, 1.1, -0.7, 4.4, 123456789.1, 1e21, 5)
  refuses(tenths, /is not a multiple of 0\.1/, 0.35, 1e-7, 0.30000000000000004)
  accepts(fieldWith('number', 'logicalTypeOptions: {multipleOf: 1.0e-7}'), 3e-7, 1)
  refuses(fieldWith('number', 'logicalTypeOptions: {multipleOf: 1.0e-7}'), /multiple/, 1.5e-7)
  accepts(fieldWith('integer', 'logicalTypeOptions: {multipleOf: 5}'), 0, -10, 9007199254740990)
  refuses(fieldWith('integer', 'logicalTypeOptions: {multipleOf: 5}'), /multiple of 5/, 3, 9007199254740991)
})

test('D6: the formats of integers are ranges', () => {
  const ranges = {
    i8: [-128, 127],
    i16: [-32768, 32767],
    i32: [-(2 ** 31), 2 ** 31 - 1],
    u8: [0, 255],
    u16: [0, 65535],
  }
  for (const [format, [lowest, highest]] of Object.entries(ranges) as [string, [number, number]][]) {
    const field = fieldWith('integer', `logicalTypeOptions: {format: ${format}}`)
    accepts(field, lowest, highest)
    refuses(field, /too low/, lowest - 1)
    refuses(field, /too high/, highest + 1)
  }
  accepts(fieldWith('integer', 'logicalTypeOptions: {format: i64}'), -9007199254740991, 9007199254740991)
  refuses(fieldWith('integer', 'logicalTypeOptions: {format: u64}'), /at least 0/, -1)
  refuses(fieldWith('number', 'logicalTypeOptions: {format: f32}'), /too high/, 1e39)
})

test('D6: lengths count characters, not code units', () => {
  const field = fieldWith('string', 'logicalTypeOptions: {minLength: 2, maxLength: 3}')
  accepts(field, 'ab', 'abc', '🎉🎉', '🎉🎉🎉')
  refuses(field, /is shorter than 2 characters/, '', 'a', '🎉')
  refuses(field, /is longer than 3 characters/, 'abcd', '🎉🎉🎉🎉')
})

test('D6: a pattern matches anywhere in the text unless it is anchored', () => {
  const field = fieldWith('string', "logicalTypeOptions: {pattern: 'ACC[0-9]{2}'}")
  accepts(field, 'ACC12', 'xACC12y')
  refuses(field, /"ACC1" does not match the pattern ACC\[0-9\]\{2\}/, 'ACC1')
  refuses(fieldWith('string', "logicalTypeOptions: {pattern: '^a$'}"), /does not match/, 'ab', 'a\n', '\na')
  accepts(fieldWith('string', "logicalTypeOptions: {pattern: '^\\u00e9\\/\\d$'}"), 'é/1')
})

test('a pattern takes linear time', () => {
  refuses(
    fieldWith('string', "logicalTypeOptions: {pattern: '^(a+)+$'}"),
    /does not match/,
    `${'a'.repeat(20_000)}!`,
  )
})

test('D6: the string formats that the standard defines are checked, others are not', () => {
  const cases: Record<string, readonly [good: readonly string[], bad: readonly string[]]> = {
    email: [
      ['a@example.com', 'a.b+c@x.example.org'],
      ['a', 'a@', '@b.c', 'a b@c.de', 'a@b..c'],
    ],
    uuid: [
      ['2f6c9a52-0c5e-4b0a-9d1e-0123456789ab'],
      ['2f6c9a52', 'urn:uuid:2f6c9a52-0c5e-4b0a-9d1e-0123456789ab'],
    ],
    uri: [
      ['https://example.com/a?b#c', 'mailto:a@b.c'],
      ['/a', 'example', 'https://a b', 'http://ä.example'],
    ],
    hostname: [
      ['example.com', 'a-b'],
      ['-a', 'a_b', 'a..b', ''],
    ],
    ipv4: [['127.0.0.1'], ['256.0.0.1', '1.2.3', '01.2.3.4', '::1']],
    ipv6: [
      ['::1', '2001:db8::ff00:42:8329', '::ffff:1.2.3.4'],
      ['1.2.3.4', ':::', 'fe80::1%eth0'],
    ],
    byte: [
      ['', 'aGk=', 'aGkh'],
      ['a', 'aGk', 'a-_=', 'aGkh\n', '===='],
    ],
    password: [['anything'], []],
    binary: [['anything'], []],
    something: [['anything'], []],
  }
  for (const [format, [good, bad]] of Object.entries(cases)) {
    const field = fieldWith('string', `logicalTypeOptions: {format: ${format}}`)
    accepts(field, ...good)
    refuses(field, new RegExp(`is not in the format ${format}`), ...bad)
  }
})

test('D6: a text that is too long for its format is refused by its length, before it is searched', () => {
  const long: Record<string, string> = {
    email: `a@${'b.'.repeat(4_000_000)}`,
    hostname: 'a.'.repeat(4_000_000),
    uri: `http://a/${'b/'.repeat(4_000_000)}`,
    uuid: 'a'.repeat(37),
    ipv4: '1'.repeat(16),
    ipv6: ':'.repeat(46),
  }
  for (const [format, text] of Object.entries(long)) {
    const fault = new RegExp(`is not in the format ${format}: it has ${text.length} characters, at most`)
    refuses(fieldWith('string', `logicalTypeOptions: {format: ${format}}`), fault, text)
  }
  const image = `data:image/png;base64,${'A'.repeat(900_000)}`
  accepts(fieldWith('string', 'logicalTypeOptions: {format: uri}'), image)
})

test('a value whose check cannot finish is refused, without an exception', () => {
  const value = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw new RangeError('Maximum call stack size exceeded')
    },
  })
  refuses(fieldWith('object'), /^.* cannot be checked: Maximum call stack size exceeded$/, value)
})

test('D6: a closed list contains the allowed values', () => {
  const rule = 'quality: [{metric: invalidValues, arguments: {validValues: [red, green]}, mustBe: 0}]'
  accepts(fieldWith('string', rule), 'red', null)
  refuses(fieldWith('string', rule), /^"blue" is not one of "red", "green"$/, 'blue')
})

test('D6: arrays and their items are checked', () => {
  const field = fieldWith(
    'array',
    'logicalTypeOptions: {minItems: 1, maxItems: 3, uniqueItems: true}, items: {logicalType: integer}',
  )
  accepts(field, [1], [1, 2, 3], [null])
  refuses(field, /^0 items are fewer than 1$/, [])
  refuses(field, /^4 items are more than 3$/, [1, 2, 3, 4])
  refuses(field, /^at \[1\]: "2" is not an integer$/, [1, '2'])
  refuses(field, /^the items \[0\] and \[2\] are equal \(1\)$/, [1, 2, 1])
  const anything = fieldWith('array', 'logicalTypeOptions: {uniqueItems: true}')
  refuses(anything, /are equal/, [
    { a: 1, b: [2] },
    { b: [2], a: 1 },
  ])
  accepts(anything, [1, '1', [1], { a: 1 }, { a: '1' }, true, null])
  refuses(fieldWith('array', 'items: {logicalType: string, required: true}'), /^at \[0\]: null, but/, [null])
})

test('D6: objects and their properties are checked, other properties are free', () => {
  const field = fieldWith(
    'object',
    'logicalTypeOptions: {required: [unit], maxProperties: 3}, ' +
      'properties: [{name: lines, logicalType: array, items: {logicalType: object, properties: ' +
      '[{name: sku, logicalType: string, required: true}, {name: toString, logicalType: string}]}}]',
  )
  accepts(
    field,
    { unit: null },
    { unit: 1, lines: [{ sku: 'a', more: 1 }], other: {} },
    { unit: 1, lines: null },
  )
  refuses(field, /^the object lacks the property "unit"$/, {}, { lines: [] })
  refuses(field, /^4 properties are more than 3$/, { unit: 1, a: 1, b: 1, c: 1 })
  refuses(field, /^at \.lines\[1\]: the object lacks the property "sku"$/, {
    unit: 1,
    lines: [{ sku: 'a' }, {}],
  })
  refuses(field, /^at \.lines\[0\]\.sku: 5 is not a string$/, { unit: 1, lines: [{ sku: 5 }] })
  refuses(field, /^at \.lines\[0\]\.sku: null, but a value is required$/, { unit: 1, lines: [{ sku: null }] })
  accepts(
    fieldWith('object', 'properties: [{name: __proto__, logicalType: string}]'),
    {},
    JSON.parse('{"__proto__": "a"}'),
  )
  refuses(
    fieldWith('object', 'properties: [{name: __proto__, logicalType: string}]'),
    /^at \.__proto__: 1 is not a string$/,
    JSON.parse('{"__proto__": 1}'),
  )
})

test('D13: integers beyond 2^53-1 are refused, also where the type is open', () => {
  accepts(fieldWith('integer'), 9007199254740991, -9007199254740991, -0)
  refuses(
    fieldWith('integer'),
    /is an integer beyond ±9007199254740991/,
    9007199254740992,
    -9007199254740992,
    1e300,
  )
  refuses(fieldWith('integer'), /is not an integer/, 1.5, Number.NaN, Infinity, '1')
  refuses(fieldWith('array'), /^at \[1\]\.a: 9007199254740992 is an integer beyond/, [
    1,
    { a: 9007199254740992 },
  ])
  refuses(fieldWith('object', 'properties: [{name: a}]'), /^at \.a: .*beyond/, { a: 1e17 })
  refuses(fieldWith('object', 'properties: [{name: a}]'), /^at \.b: .*beyond/, { b: 1e17 })
  accepts(fieldWith('number'), 1e300, -1e21)
  accepts(fieldWith('array', 'items: {logicalType: number}'), [1e300])
  refuses(fieldWith('number'), /is not a number/, Infinity, Number.NaN, '1')
})

test('D13: U+0000 and lone surrogates are refused anywhere, in keys too', () => {
  const nul = `a${String.fromCharCode(0)}`
  refuses(fieldWith('string'), /contains the character U\+0000/, nul)
  refuses(fieldWith('string'), /lone surrogate/, 'a\ud800', '\udc00\ud800')
  accepts(fieldWith('string'), '🎉', '\u0001')
  refuses(fieldWith('array'), /^at \[1\]\.a: .*U\+0000/, ['', { a: nul }])
  refuses(fieldWith('array', 'items: {logicalType: string}'), /^at \[0\]: .*lone surrogate/, ['\udfff'])
  refuses(fieldWith('object'), /the key .*U\+0000/, { [nul]: 1 })
  refuses(fieldWith('object'), /^at \.a: the key .*lone surrogate/, { a: { '\ud800': 1 } })
})

test('values are at most 100 levels deep, and deeper ones overflow no stack', () => {
  accepts(fieldWith('array'), nested(99))
  refuses(fieldWith('array'), /nested more than 100 levels deep/, nested(101), nested(100_001))
  refuses(fieldWith('object'), /nested more than 100 levels deep/, nested(100_000))
  for (const type of ['string', 'integer', 'date', 'boolean'])
    refuses(fieldWith(type), /an array of 1 item is not/, nested(100_001))
  refuses(
    fieldWith(
      'object',
      'logicalTypeOptions: {maxProperties: 1}, properties: [{name: a, logicalType: array}]',
    ),
    /nested more than 100 levels deep/,
    { a: nested(100_001) },
  )
})

test('D14: an id is 1 to 512 characters, without control characters, commas and space at its ends', () => {
  const id = contractWith().fieldByName.get('id')!
  accepts(id, 'a', 'a b', '../x', 'ä/ö?#%', 'x'.repeat(512), '🎉'.repeat(512))
  refuses(id, /required/, null)
  refuses(id, /at least 1 character/, '')
  refuses(id, /longer than the 512 characters/, 'x'.repeat(513), '🎉'.repeat(513))
  refuses(id, /control character/, 'a\nb', 'a\u007f', '\u0085')
  refuses(id, /comma/, 'a,b')
  refuses(id, /white space/, ' a', 'a ', '\u00a0a', 'a\u3000')
  refuses(id, /U\+0000/, 'a\0')
  refuses(id, /is not a string/, 1)
})

test('messages are short for any value', () => {
  const long = 'x'.repeat(1_000_000)
  refuses(fieldWith('integer'), /^"x{80}"… is not an integer$/, long)
  refuses(fieldWith('integer'), /^an object is not an integer$/, { [long]: long })
  refuses(fieldWith('object'), /^at \["x{80}"…\]: "x{80}"… contains/, { [long]: `${long}\0` })
  assert.equal(
    valueError(fieldWith('integer'), `${'x'.repeat(79)}🎉`),
    `"${'x'.repeat(79)}"… is not an integer`,
  )
})

test('D26: a number or boolean computed for a string field becomes its JSON text, nothing else changes', () => {
  const text = fieldWith('string')
  assert.equal(coerceComputed(text, 1.5), '1.5')
  assert.equal(coerceComputed(text, 1e21), '1e+21')
  assert.equal(coerceComputed(text, false), 'false')
  assert.equal(coerceComputed(text, 'a'), 'a')
  assert.equal(coerceComputed(text, null), null)
  assert.deepEqual(coerceComputed(text, [1]), [1])
  assert.equal(coerceComputed(fieldWith('date'), 2024), 2024)
  assert.equal(coerceComputed(fieldWith('integer'), true), true)
})
