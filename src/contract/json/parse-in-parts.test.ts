import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../store/suite/support/random.ts'
import { parseExactly } from './exact-json.ts'
import { DepthError, PART_BYTES, parseInParts, UNCUT_BYTES, UncutError } from './parse-in-parts.ts'

interface Parsed {
  readonly value: unknown
  readonly parts: number
}

function parse(text: string): Parsed {
  const parsing = parseInParts(Buffer.from(text))
  for (let parts = 0; ; parts += 1) {
    const { done, value } = parsing.next()
    if (done === true) return { value, parts }
  }
}

function assertSame(text: string, mostPart = 2 * PART_BYTES): void {
  const { value, parts } = parse(text)
  assert.deepEqual(value, parseExactly(text))
  assert.ok(
    parts >= Math.floor(Buffer.byteLength(text) / mostPart),
    `${parts} parts of ${text.length} characters`,
  )
}

const LARGE = 5 * PART_BYTES

test('a large text is parsed in parts, wherever it has to be cut', () => {
  const many = (item: string): string =>
    Array.from({ length: Math.ceil(LARGE / item.length) }, () => item).join(',')
  for (const text of [
    `[${many('0')}]`,
    `[${many('"é\\n\\u00e9\\"\\\\"')}]`,
    `[[[${many('{"a": [1, 2]}')}], 7], {"b": 1}]`,
    `{"records": [${many('{"id":"x","n":1.5e3,"t":["a",{}]}')}], "actor": "human:ann"}`,
    `{"a": {"b": {"1": [${many('[]')}], "0": 2, "c": {${many('"d": 1')}}}}, "z": null}`,
    `{"a": 1, "text": "${'xé€😀\\ud83d\\ude00\\\\'.repeat(LARGE / 20)}", "b": ["${'y'.repeat(LARGE)}", 1]}`,
    `"${'x'.repeat(LARGE)}"`,
    `\uFEFF [ ${many(' true , false ')} ] `.slice(1),
    `{${Array.from({ length: 20_000 }, (_, index) => `"key ${index}": ${index}`).join()}}`,
    `{"__proto__": {"x": [${many('1')}]}, "constructor": [${many('2')}]}`,
    `${'['.repeat(500)}${many('1')}${']'.repeat(500)}`,
  ])
    assertSame(text)
})

test('a byte order mark is skipped', () => {
  assert.deepEqual(parse(`\uFEFF[1]`).value, [1])
})

test('repeated names, and names equal to those that a part inserts, are handled as in JSON.parse', () => {
  const long = 'x'.repeat(PART_BYTES)
  assertSame(`{"a": ["${long}", 1], "a": ["${long}", 2, 3], "": 4, "b": {"a": "${long}", "a": "${long}y"}}`)
})

test('D13: a number that would lose digits is kept as written in every part', () => {
  const { value } = parse(`[${`${'1,'.repeat(100)}12345678901234567891,`.repeat(2000)}0]`)
  const items = value as unknown[]
  assert.equal(items.filter((item) => String(item) === '12345678901234567891').length, 2000)
})

test('invalid JSON is refused wherever the error is', () => {
  const long = `[${'1,'.repeat(LARGE)}1]`
  const close = long.lastIndexOf(']')
  const cut = PART_BYTES + 1
  for (const text of [
    `${long}]`,
    long.slice(0, -1),
    `${long} x`,
    `${long.slice(0, close)},]`,
    `${long.slice(0, close)}}`,
    `[${long},,1]`,
    `[${long},}`,
    `{"a": ${long}, }`,
    `{"a": ${long}, "b"}`,
    `{"a": ${long}, "b":, "c": 1}`,
    `["${'x'.repeat(LARGE)}`,
    `["${'x'.repeat(LARGE)}\\u12"]`,
    `["${'x'.repeat(LARGE)}\n"]`,
    ...[cut - 1, cut, cut + 1, cut + 2].flatMap((at) =>
      [',', ']', '[', '}', '{', '"', ':', '[,', '{,'].map(
        (fault) => long.slice(0, at) + fault + long.slice(at),
      ),
    ),
  ])
    assert.throws(() => parse(text), SyntaxError, `${text.slice(0, 20)}…${text.slice(-20)}`)
  assert.throws(() => parse('1,'.repeat(LARGE)), SyntaxError)
  assert.throws(() => parse(`[${'1,'.repeat(PART_BYTES)}x]`), {
    message: /^Unexpected token 'x' after byte \d+$/,
  })
})

test('text that nests too deeply is refused, however it is cut', () => {
  for (const depth of [513, 100_000]) {
    assert.throws(() => parse(`${'['.repeat(depth)}${']'.repeat(depth)}`), DepthError)
    assert.throws(() => parse(`[${'1,'.repeat(PART_BYTES)}${'['.repeat(depth)}`), DepthError)
  }
})

test('a value that cannot be cut is refused beyond a length', () => {
  for (const text of [
    `[${'1'.repeat(UNCUT_BYTES + 2 * PART_BYTES)}]`,
    `[${' '.repeat(UNCUT_BYTES + 2 * PART_BYTES)}]`,
    `{"${'x'.repeat(UNCUT_BYTES + 2 * PART_BYTES)}": 1}`,
  ])
    assert.throws(() => parse(text), UncutError)
})

test('any value is equal to that of JSON.parse', () => {
  const random = seededRandom(27)
  const text = (): string =>
    'aé€😀"\\\n,[{'
      .repeat(random.below(2) === 0 ? random.below(3) : random.below(8000))
      .slice(random.below(5))
  const value = (depth: number): unknown => {
    const kind = random.below(depth > 6 ? 4 : 8)
    if (kind === 0) return random.below(1000) / 7
    if (kind === 1) return [true, false, null][random.below(3)]
    if (kind < 4) return text()
    const items = Array.from({ length: random.below(6) }, () => value(depth + 1))
    return kind < 6
      ? items
      : Object.fromEntries(items.map((item, index) => [random.below(2) === 0 ? `${index}` : text(), item]))
  }
  for (let round = 0; round < 10; round += 1) {
    const made = JSON.stringify(
      Array.from({ length: 8 }, () => value(0)),
      null,
      random.below(2),
    )
    assert.deepEqual(parse(made).value, JSON.parse(made))
  }
})
