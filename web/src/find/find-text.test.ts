import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsText, fieldsWith, patternOf } from './find-text.ts'

test('a text is found in values of each type, ignoring case', () => {
  assert.ok(containsText('string', 'Ärger (50%)', 'ärger (5'))
  assert.ok(!containsText('string', 'axb', 'a.b'))
  assert.ok(!containsText('string', null, 'n'))
  assert.ok(!containsText('boolean', true, 'true'))
  assert.ok(containsText('number', 83_600.5, '83,600'))
  assert.ok(containsText('integer', 83_600, '3,6'))
  assert.ok(containsText('timestamp', '2026-01-01T00:30:00Z', '2026-01-01 00:3'))
  assert.ok(containsText('array', ['x', ['Yz']], 'yZ'))
  assert.ok(containsText('object', { Key: { inner: 2.5 } }, 'key'))
  assert.ok(containsText('object', { Key: { inner: 2.5 } }, '2.5'))
  assert.ok(!containsText('array', ['x', 'y'], ','))
})

test('a shown number is found with or without its separators', () => {
  assert.equal(patternOf('83600')?.exec('area 83,600 km')?.[0], '83,600')
  assert.equal(patternOf('83,600')?.exec('83600')?.[0], '83600')
  assert.equal(patternOf(',')?.exec('a,b')?.[0], ',')
  assert.equal(patternOf(''), null)
})

test('the fields with a text are in their order', () => {
  const fields = (['b', 'a', 'n'] as const).map((name) => ({ name, type: 'string' as const }))
  assert.deepEqual(
    fieldsWith(fields, { a: 'Bern', b: 'bern', n: 'x' }, 'BERN').map(({ name }) => name),
    ['b', 'a'],
  )
})
