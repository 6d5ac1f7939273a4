import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localTime, throughSecond } from './local-time.ts'

test('a time becomes the value of an input, and that the end of its second', () => {
  const at = '2026-03-08T01:02:03.456Z'
  assert.match(localTime(at), /^2026-03-0[789]T\d\d:\d\d:03$/)
  assert.equal(throughSecond(localTime(at)), '2026-03-08T01:02:03.999Z')
  assert.equal(throughSecond(localTime(at).slice(0, -3)), '2026-03-08T01:02:00.999Z')
  for (const text of ['', 'yesterday']) assert.equal(throughSecond(text), null)
})
