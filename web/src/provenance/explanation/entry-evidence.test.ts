import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computedEntry, entryOf } from '../history/test-entries.ts'
import { cachedText, entryEvidence } from './entry-evidence.ts'

const MEASURED = {
  ...entryOf({ seq: 3, source: 'measure', derivation: 'length.yaml', cached: false }),
  unit: 'characters',
  longest_word: 12,
  duration_ms: 7,
  url: 'file:words.txt',
}

test('the evidence of a kind that is not http is listed by its names', () => {
  assert.deepEqual(entryEvidence(MEASURED), [
    { name: 'Unit', text: 'characters' },
    { name: 'Longest word', text: '12' },
    { name: 'Duration ms', text: '7' },
    { name: 'Url', text: 'file:words.txt' },
  ])
  assert.deepEqual(entryEvidence(computedEntry({ seq: 2 })), [])
  assert.deepEqual(entryEvidence(entryOf({ seq: 1 })), [])
})

test('only a value of http says whether a call was made', () => {
  assert.deepEqual([cachedText(MEASURED), cachedText({ ...MEASURED, cached: true })], ['No', 'Yes'])
  assert.equal(cachedText(computedEntry({ seq: 2 })), 'No, with a call')
  assert.equal(cachedText(entryOf({ seq: 1 })), null)
})

test('lists and objects of plain values are shown without JSON', () => {
  const entry = {
    ...entryOf({ seq: 3, source: 'measure', derivation: 'length.yaml', cached: false }),
    reads: ['area', 'name'],
    row: { side: 'left', since: null },
    shape: [[1], { a: 2 }],
    nothing: [],
  }
  assert.deepEqual(
    entryEvidence(entry).map(({ text }) => text),
    ['area, name', 'side: left\nsince: null', '[\n  [\n    1\n  ],\n  {\n    "a": 2\n  }\n]', ''],
  )
})
