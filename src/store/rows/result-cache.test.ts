import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCache } from './result-cache.ts'

const answerOf = (bytes: number): { json: Uint8Array } => ({ json: new Uint8Array(bytes) })

test('responses are cached up to a number of bytes, the most recently used ones the longest', () => {
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

test('a response that would displace most of the others is not cached', () => {
  const cache = answerCache(10_000)
  cache.set('large', answerOf(1300))
  cache.set('small', answerOf(1000))
  assert.deepEqual([cache.get('large'), cache.get('small')], [undefined, answerOf(1000)])
})
