import type { LogicalType } from '../../src/contract/contract.ts'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import type { Random } from '../../src/store/suite/support/random.ts'

/** Texts that some format or program mistakes for something else. */
const TEXTS = [
  '',
  ' ',
  ' lead',
  'trail ',
  '\tx',
  'x\t',
  '007',
  '1e3',
  '1.50',
  'true',
  'null',
  'NaN',
  '=1+1',
  "'=1+1",
  "''",
  "'",
  '+1',
  '-1',
  '@x',
  '＝1',
  '"',
  '""',
  'a"b',
  'a,b',
  'a;b',
  'a|b',
  'x\ny',
  'x\ry',
  'x\r\ny',
  '\n',
  '\r',
  '\r\n',
  '_x0041_',
  '_x005F_x0041_',
  '_x',
  '\u0001\u001f',
  '\u007f\u0085',
  '\u2028\u2029',
  '\ufeff',
  '\ufeffbom',
  '\ufffe\uffff',
  'ÄÖÜ ß ñ 漢字 \u{1F600} e\u0301',
  '<a>&amp;</a>',
  ']]>',
  '\\',
  '\\N',
  'PAR1',
  'sep=;',
  '2024-02-29',
  'x'.repeat(5000),
]
const INTEGERS = [
  0,
  1,
  -1,
  42,
  2 ** 31,
  999_999_999_999_999,
  1_000_000_000_000_000,
  2 ** 53 - 1,
  -(2 ** 53 - 1),
]
const NUMBERS = [0, 0.1, -0.1, 0.1 + 0.2, 1e21, 1.5e300, -5e-324, 123456789.12345678, 2 ** 60, 1e15, 2 ** 70]
const DATES = [
  '0000-01-01',
  '0001-12-31',
  '1899-12-31',
  '1900-01-01',
  '1900-02-28',
  '1900-03-01',
  '1970-01-01',
  '2024-02-29',
  '9999-12-31',
]
const TIMESTAMPS = [
  '2024-03-10T14:22:35Z',
  '2024-03-10T14:22Z',
  '2024-03-10T14:22:35.123456789012+05:30',
  '0000-01-01T00:00:00-23:59',
  '9999-12-31T23:59:59.9Z',
  '2016-12-31T23:59:60Z',
]
const TIMES = ['00:00', '23:59:59', '12:00:00.000000001', '12:00:00Z', '12:00:00.5-08:00']

/** Returns a value of a type that is hard to preserve, or null. */
export function oddValue(random: Random, type: LogicalType): JsonValue {
  if (random.chance(0.2)) return null
  switch (type) {
    case 'string':
      return oddText(random)
    case 'integer':
      return random.pick(INTEGERS)
    case 'number':
      return random.pick(NUMBERS)
    case 'boolean':
      return random.chance(0.5)
    case 'date':
      return random.pick(DATES)
    case 'timestamp':
      return random.pick(TIMESTAMPS)
    case 'time':
      return random.pick(TIMES)
    case 'array':
      return Array.from({ length: random.below(4) }, () => anything(random, 2))
    case 'object':
      return oddObject(random, 2)
  }
}

function oddText(random: Random): string {
  return random.chance(0.3) ? random.pick(TEXTS) + random.pick(TEXTS) : random.pick(TEXTS)
}

function anything(random: Random, depth: number): JsonValue {
  const kind = random.below(depth === 0 ? 4 : 6)
  if (kind === 0) return null
  if (kind === 1) return oddText(random)
  if (kind === 2) return random.pick([...INTEGERS, 0.5, -1e-7])
  if (kind === 3) return random.chance(0.5)
  if (kind === 4) return Array.from({ length: random.below(3) }, () => anything(random, depth - 1))
  return oddObject(random, depth - 1)
}

function oddObject(random: Random, depth: number): JsonObject {
  const keys = ['a', '', '__proto__', 'constructor', 'x y', '"', 'ü'].filter(() => random.chance(0.3))
  return Object.fromEntries(keys.map((key) => [key, anything(random, depth)]))
}

/** Returns an id that is hard to preserve. */
export function oddId(random: Random, number: number): string {
  const text = random
    .pick(TEXTS)
    .replaceAll(/[\p{Cc},]/gu, '')
    .slice(0, 100)
  // Without white space at the ends, which an id cannot have.
  return `${text}.${number}`.trim()
}
