import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutToWidth, padToWidth, textWidth } from './text-width.ts'

test('wide characters and emoji take two columns, combining marks none', () => {
  assert.deepEqual(['abc', '日本', '👩‍👩‍👧', 'e\u0301', '🇨🇭', ''].map(textWidth), [3, 4, 2, 1, 2, 0])
})

test('a text is cut to the width with an ellipsis, and never within a grapheme', () => {
  assert.equal(cutToWidth('abcdef', 6), 'abcdef')
  assert.equal(cutToWidth('abcdefg', 6), 'abcde…')
  assert.equal(cutToWidth('日本語', 6), '日本語')
  assert.equal(cutToWidth('日本語', 5), '日本…')
  assert.equal(cutToWidth('日本語', 4), '日…')
  assert.equal(cutToWidth('ae\u0301xyz', 3), 'ae\u0301…')
  for (const text of ['日本語です', '👩‍👩‍👧👩‍👩‍👧', 'añb̃c', 'plain text']) {
    for (let width = 1; width < 12; width++) {
      const cut = cutToWidth(text, width)
      assert.ok(textWidth(cut) <= width, `${JSON.stringify(cut)} in ${width}`)
    }
  }
})

test('a text is padded by its width in columns', () => {
  assert.equal(padToWidth('日', 4), '日  ')
  assert.equal(padToWidth('12', 4, 'right'), '  12')
  assert.equal(padToWidth('longer', 4), 'longer')
})
