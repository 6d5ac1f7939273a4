import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../../../contract/json/json.ts'
import { SecretSearch } from './secret-search.ts'
import { BODY_LIMIT } from '../call/network-fault.ts'
import { SecretGuard } from './secret-guard.ts'

const SECRET = 'geheim-0123456789'
const MIB = 1024 * 1024

/** Returns a search for the secrets, and the lengths of the texts that it searches. */
function searching(secrets: readonly string[] = [SECRET]): { search: SecretSearch; searched: number[] } {
  const guard = new SecretGuard(secrets)
  const searched: number[] = []
  const isIn = guard.isIn.bind(guard)
  guard.isIn = (text) => {
    searched.push(text.length)
    return isIn(text)
  }
  return { search: new SecretSearch(guard), searched }
}

test('D23: a value is searched once, however often it is requested', () => {
  const { search, searched } = searching()
  const list = ['a', SECRET]
  for (let count = 0; count < 20; count++) {
    assert.equal(search.verdict('%41'.repeat(3 * MIB)), 'clean')
    assert.equal(search.verdict(list), 'repeats')
  }
  assert.deepEqual(searched, [9 * MIB, 1 + SECRET.length])
})

test('D23: nested values are searched up to 10 MiB in total, and no further', () => {
  let nested: JsonValue = ['x'.repeat(3 * MIB)]
  const values: JsonValue[] = [nested]
  while (values.length < 20) values.push((nested = [nested]))
  const { search, searched } = searching()
  const verdicts = values.map((value) => search.verdict(value))
  assert.deepEqual(verdicts.slice(0, 4), ['clean', 'clean', 'clean', 'not-searched'])
  assert.ok(verdicts.slice(4).every((verdict) => verdict === 'not-searched'))
  assert.equal(search.verdict(SECRET), 'not-searched')
  assert.deepEqual(searched, [3 * MIB, 3 * MIB, 3 * MIB])
})

test('D23: the contents of one body are searched completely', () => {
  const { search } = searching()
  const half = 'x'.repeat(BODY_LIMIT / 2 - 10)
  assert.equal(search.verdict(half), 'clean')
  assert.equal(search.verdict({ [`${half.slice(100)}${SECRET}`]: 1 }), 'repeats')
})

test('D23: numbers, keys and empty values count too', () => {
  for (const item of [1e20, '', null, { a: {} }]) {
    const { search } = searching()
    assert.equal(search.verdict(Array<JsonValue>(BODY_LIMIT).fill(item)), 'not-searched')
    assert.equal(search.verdict(null), 'not-searched')
  }
})

test('without secrets, nothing is searched or refused', () => {
  const { search, searched } = searching(['short'])
  const text = 'x'.repeat(BODY_LIMIT)
  for (const value of [text, [text], [[text]]]) assert.equal(search.verdict(value), 'clean')
  assert.deepEqual(searched, [])
})
