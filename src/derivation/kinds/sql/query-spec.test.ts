import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatement } from './query-spec.ts'

test('a statement begins with its keyword after white space and comments, however many', () => {
  for (const text of ['SELECT 1', ' /* a */ -- b\n with', 'VALUES(1)', `${'/**/'.repeat(100)} select 1`]) {
    assert.ok(isStatement(text), text)
  }
  for (const text of ['', 'x', 'selected', '/* SELECT 1', '-- SELECT 1', `${'/**/'.repeat(100)}x`]) {
    assert.ok(!isStatement(text), text)
  }
})
