import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from './json.ts'
import { parseExactly } from './exact-json.ts'
import { stringifyInParts } from './stringify-in-parts.ts'

/** No part of the JSON of a value may be longer, whose values are short. */
const MOST = 256 << 10

function assertSame(value: unknown, leastParts: number): void {
  const parts = [...stringifyInParts(value)]
  assert.equal(parts.join(''), JSON.stringify(value))
  assert.ok(parts.length >= leastParts, `${parts.length} parts`)
  for (const part of parts) assert.ok(part.length <= MOST, `a part of ${part.length} characters`)
}

test('small values are one part', () => {
  for (const value of [null, true, 1.5, {}, [], { a: [1, { b: null }], c: 'd' }]) {
    assert.deepEqual([...stringifyInParts(value)], [JSON.stringify(value)])
  }
})

test('large values are several parts, whose concatenation equals JSON.stringify', () => {
  const list: JsonValue[] = Array.from({ length: 100_000 }, (_, n) => n / 3)
  const texts = Array.from({ length: 50 }, (_, n) => 'x"\\\né€😀'.repeat(n * 500))
  const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`name ${n}`, { n }]))
  let nested: JsonValue = ['x'.repeat(1 << 20)]
  for (let depth = 0; depth < 500; depth += 1)
    nested = depth % 2 === 0 ? [1, nested, 2] : { a: nested, b: [] }
  assertSame(list, 40)
  assertSame({ value: list, previous: [list, 'x'], seq: 1 }, 80)
  assertSame(texts, 20)
  assertSame('😀'.repeat(100_001), 6)
  assertSame(`a${'😀'.repeat(100_001)}`, 6)
  assertSame(members, 10)
  assertSame(nested, 32)
  assertSame([[], {}, list, [], '', { '': list }], 80)
})

test('a number that a double cannot represent is kept as written', () => {
  const text = `[${'12345678901234567891,'.repeat(5000)}1]`
  assert.equal([...stringifyInParts(parseExactly(text))].join(''), text)
})
