import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'

test('the intended word is found despite one or two errors, ignoring case', () => {
  assert.equal(nearest('requird', ['name', 'required']), 'required')
  assert.equal(nearest('UNIQEU', ['unique']), 'unique')
  assert.equal(nearest('naem', ['name']), 'name')
  assert.equal(nearest('else', ['name', 'required']), null)
})

test('long words are not compared, since they may come from an attacker', () => {
  const long = 'f'.repeat(500_000)
  assert.equal(nearest(`${long}g`, [`${long}h`]), null)
  assert.equal(nearest('a', [long]), null)
})
