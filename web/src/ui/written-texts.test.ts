import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WrittenTexts } from './written-texts.ts'

test('an earlier text of the editor does not replace what was typed since; one from elsewhere does', () => {
  const written = new WrittenTexts()
  for (const text of ['a', 'ab', 'abc', 'ab']) written.add(text)
  assert.equal(written.has('ab'), true, 'a render can skip texts')
  assert.equal(written.has('ab'), true, 'a text that was typed again')
  assert.equal(written.has('abc'), false, 'everything is rendered')
  written.add('abcd')
  assert.equal(written.has('other'), false)
  assert.equal(written.has('abcd'), false, 'replaced by a text from elsewhere')
})
