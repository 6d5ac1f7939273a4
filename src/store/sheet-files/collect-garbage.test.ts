import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { collectGarbage } from './collect-garbage.ts'

test('what nobody refers to any more is gone', async () => {
  const garbage = new WeakRef({ of: 'this turn' })
  // A weak reference keeps its target alive until the end of the turn in which it is made.
  await nextTurn()
  assert.notEqual(garbage.deref(), undefined)
  await nextTurn()
  collectGarbage()
  assert.equal(garbage.deref(), undefined)
})

test('what runs in a context of its own finds no collector there', () => {
  collectGarbage()
  assert.equal(runInNewContext('typeof gc'), 'undefined')
})
