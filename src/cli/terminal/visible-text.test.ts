import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visibleBytes, visibleJson, visibleText } from './visible-text.ts'

/** All that a terminal obeys, or that turns text around. */
const HOSTILE = [
  '\u0000',
  '\u0007',
  '\b',
  '\r',
  '\u001b[2J',
  '\u001b]0;title\u0007',
  '\u007f',
  '\u009b31m',
  '\u202e',
  '\u2066',
]

test('visible text contains no control sequences', () => {
  for (const text of HOSTILE) {
    const shown = visibleText(`a${text}b`)
    assert.doesNotMatch(shown, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
    assert.match(shown, /^a.*\\u[0-9a-f]{4}.*b$/)
  }
  assert.equal(visibleText('two\nlines\tand a tab'), 'two⏎lines→and a tab')
  assert.equal(visibleText('plain, ünï and 日本 👩‍👧'), 'plain, ünï and 日本 👩‍👧')
  assert.equal(visibleText('half \ud800'), 'half \ufffd')
})

test('JSON means the same afterwards', () => {
  for (const text of HOSTILE) {
    const json = visibleJson(JSON.stringify({ text }, null, 2))
    assert.doesNotMatch(json, /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u)
    assert.deepEqual(JSON.parse(json), { text })
  }
})

test('in the text of a file, lines and tabs are kept, however its bytes are chunked', async () => {
  const file = 'id\tname\r\na\tünï \u001b[2J\rb\u009b\r\n日本\n\r'
  const bytes = Buffer.from(file)
  for (let size = 1; size <= bytes.length; size += 1) {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    let shown = ''
    for await (const text of visibleBytes(chunks())) shown += text
    assert.equal(shown, 'id\tname\r\na\tünï \\u001b[2J\\u000db\\u009b\r\n日本\n\\u000d')
  }
})
