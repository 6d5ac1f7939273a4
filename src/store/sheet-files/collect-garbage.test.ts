import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { collectGarbage, collectOnce } from './collect-garbage.ts'

for (const collect of [collectGarbage, collectOnce])
  test(`${collect.name} collects unreferenced objects`, async () => {
    const garbage = new WeakRef({ of: 'this turn' })
    // A weak reference keeps its target alive until the end of the turn in which it is made.
    await nextTurn()
    assert.notEqual(garbage.deref(), undefined)
    await nextTurn()
    collect()
    assert.equal(garbage.deref(), undefined)
  })

test('code in another context has no access to the collector', () => {
  collectGarbage()
  assert.equal(runInNewContext('typeof gc'), 'undefined')
})
