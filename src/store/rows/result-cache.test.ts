import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCache } from './result-cache.ts'

const answerOf = (bytes: number): { json: Uint8Array } => ({ json: new Uint8Array(bytes) })

test('answers are kept up to so many bytes, those that were used last for longest', () => {
  const cache = answerCache(10_000)
  const keys = Array.from({ length: 20 }, (_, index) => `page ${index}`)
  for (const key of keys) {
    cache.set(key, answerOf(1000))
    cache.get('page 0')
  }
  const kept = keys.filter((key) => cache.get(key) !== undefined)
  assert.deepEqual(kept, ['page 0', ...keys.slice(-7)])
  cache.clear()
  assert.equal(cache.get('page 0'), undefined)
})

test('an answer that would push most of the others out is not kept', () => {
  const cache = answerCache(10_000)
  cache.set('large', answerOf(1300))
  cache.set('small', answerOf(1000))
  assert.deepEqual([cache.get('large'), cache.get('small')], [undefined, answerOf(1000)])
})
