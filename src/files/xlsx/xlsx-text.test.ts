import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeText, encodeText } from './xlsx-text.ts'

test('control characters are escaped, and so is text that looks like an escape', () => {
  assert.equal(encodeText('a\u0001b\r\n\tc'), 'a_x0001_b_x000D_\n\tc')
  assert.equal(encodeText('_x0041_'), '_x005F_x0041_')
  assert.equal(encodeText('<a> & "b"'), '&lt;a&gt; &amp; "b"')
})

test('the escapes can be decoded, whatever the text was', () => {
  for (const text of [
    '_x0041_',
    '_x005F_x0041_',
    '__x0041_x0042_',
    '_x',
    '_x00G1_',
    '\u007f\u0085\u001f',
    '\ufffe\uffff',
    '\u{1F600}',
  ]) {
    // Without what XML escapes, which its parser undoes.
    assert.equal(decodeText(encodeText(text)), text)
  }
})
