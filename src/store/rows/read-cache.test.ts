import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCache } from './read-cache.ts'

const sized = (bytes: number): { json: Uint8Array } => ({ json: new Uint8Array(bytes) })

test('responses are cached up to a number of bytes, the most recently used ones the longest', () => {
  const cache = readCache(10_000)
  const keys = Array.from({ length: 20 }, (_, index) => `page ${index}`)
  for (const key of keys) {
    cache.set(key, sized(1000))
    cache.get('page 0')
  }
  const kept = keys.filter((key) => cache.get(key) !== undefined)
  assert.deepEqual(kept, ['page 0', ...keys.slice(-7)])
  cache.clear()
  assert.equal(cache.get('page 0'), undefined)
})

test('a response that would displace most of the others is not cached', () => {
  const cache = readCache(10_000)
  cache.set('large', sized(1300))
  cache.set('small', sized(1000))
  assert.deepEqual([cache.get('large'), cache.get('small')], [undefined, sized(1000)])
})
