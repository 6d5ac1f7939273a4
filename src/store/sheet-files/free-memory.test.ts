import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { freeMemorySoon, heapSize } from './free-memory.ts'

/** Returns whether garbage is collected some time after a run in which the heap has grown by so many bytes. */
async function collects(t: TestContext, growth: number): Promise<boolean> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const garbage = new WeakRef({ of: 'this turn' })
  freeMemorySoon(heapSize() - growth)
  // A weak reference keeps its target alive until the end of the turn in which it is made.
  await nextTurn()
  t.mock.timers.tick(1000)
  t.mock.timers.reset()
  return garbage.deref() === undefined
}

test('garbage is collected after a run in which the heap has grown much', async (t) => {
  assert.equal(await collects(t, 100 << 20), true)
})

test('after any other run it is left to V8', async (t) => {
  assert.equal(await collects(t, 0), false)
})
