import assert from 'node:assert/strict'
import test from 'node:test'
import { parseHistory, withoutStatement, withStatement, type PastStatement } from './statement-history.ts'

const past = (sql: string, rows: number | null = 1): PastStatement => ({
  sql,
  at: '2026-01-01T00:00:00.000Z',
  rows,
  ms: 2,
})

test('the newest statement is first, and a repeated one is listed once', () => {
  let history = withStatement([], past('SELECT 1'))
  history = withStatement(history, past('SELECT 2'))
  history = withStatement(history, past('  SELECT 1\n', 7))
  assert.deepEqual(
    history.map(({ sql }) => sql),
    ['SELECT 1', 'SELECT 2'],
  )
  assert.equal(history[0]?.rows, 7)
})

test('at most 50 statements are kept', () => {
  let history: readonly PastStatement[] = []
  for (let n = 0; n < 60; n += 1) history = withStatement(history, past(`SELECT ${n}`))
  assert.equal(history.length, 50)
  assert.equal(history[0]?.sql, 'SELECT 59')
  assert.equal(history.at(-1)?.sql, 'SELECT 10')
})

test('empty and very long statements are not kept', () => {
  assert.deepEqual(withStatement([], past(' \n')), [])
  assert.deepEqual(withStatement([], past('x'.repeat(30_000))), [])
})

test('a statement can be removed', () => {
  assert.deepEqual(withoutStatement([past('a'), past('b')], 'a'), [past('b')])
})

test('invalid stored data is ignored', () => {
  assert.deepEqual(parseHistory(undefined), [])
  assert.deepEqual(parseHistory({ sql: 'x' }), [])
  const good = past('SELECT 1', null)
  assert.deepEqual(parseHistory([null, 1, {}, { ...good, at: 'soon' }, { ...good, ms: '3' }, good]), [good])
})
