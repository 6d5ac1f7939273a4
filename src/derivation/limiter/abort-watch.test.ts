import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { AbortWatch } from './abort-watch.ts'

test('all waiting calls are notified, in order, with one listener', () => {
  const watch = new AbortWatch()
  const [controller, other] = [new AbortController(), new AbortController()]
  const told: string[] = []
  const gone = (): void => void told.push('gone')
  watch.add(controller.signal, () => told.push('first'))
  watch.add(controller.signal, gone)
  watch.add(controller.signal, () => told.push('second'))
  watch.add(other.signal, () => told.push('other'))
  watch.remove(controller.signal, gone)
  assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
  controller.abort()
  assert.deepEqual(told, ['first', 'second'])
  other.abort()
  assert.deepEqual(told, ['first', 'second', 'other'])
})

test('a callback may remove others', () => {
  const watch = new AbortWatch()
  const controller = new AbortController()
  const told: string[] = []
  const second = (): void => void told.push('second')
  watch.add(controller.signal, () => {
    told.push('first')
    watch.remove(controller.signal, second)
  })
  watch.add(controller.signal, second)
  controller.abort()
  assert.deepEqual(told, ['first'])
})

test('no listener is left on a signal without waiting calls', () => {
  const watch = new AbortWatch()
  const { signal } = new AbortController()
  const callbacks = [1, 2, 3].map(() => (): void => assert.fail('nobody waits'))
  for (const callback of callbacks) watch.add(signal, callback)
  for (const callback of callbacks) watch.remove(signal, callback)
  watch.remove(signal, () => undefined)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})
