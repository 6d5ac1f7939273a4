import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typedSlot } from './field-slots.ts'

test('a slash begins a placeholder in a text, not within a word', () => {
  assert.deepEqual(typedSlot('Where is /cap', false), { from: 9, word: 'cap', isOpen: false })
  assert.deepEqual(typedSlot('/', false), { from: 0, word: '', isOpen: false })
  assert.equal(typedSlot('and/or', false), null)
  assert.equal(typedSlot('https://', false), null)
  assert.equal(typedSlot('Where is it', false), null)
  assert.deepEqual(typedSlot('Where is {{ ca', false), { from: 9, word: 'ca', isOpen: true })
})

test('in the path of a URL the slash stays, in its query it does not', () => {
  assert.equal(typedSlot('https:/', true), null)
  assert.equal(typedSlot('https://', true), null)
  assert.deepEqual(typedSlot('https://h/a/', true), { from: 12, word: '', isOpen: false })
  assert.deepEqual(typedSlot('https://h/a?q=/na', true), { from: 14, word: 'na', isOpen: false })
})
