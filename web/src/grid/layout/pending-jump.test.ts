import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { PendingJump } from './pending-jump.ts'

const LONG_MS = 10_000

function begin(t: TestContext): { readonly hold: PendingJump; readonly arrived: number[] } {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const arrived: number[] = []
  return { hold: new PendingJump((offset) => arrived.push(offset)), arrived }
}

suite('the rows held during a jump', () => {
  test('change as soon as the new rows are loaded', (t) => {
    const { hold, arrived } = begin(t)
    hold.jump(500)
    assert.equal(hold.goal, 500)
    hold.look(() => false)
    assert.deepEqual(arrived, [])
    hold.look((offset) => offset === 500)
    assert.deepEqual(arrived, [500])
    assert.equal(hold.goal, null)
    t.mock.timers.tick(LONG_MS)
    assert.deepEqual(arrived, [500])
  })

  test('change without them if they are not loaded in time', (t) => {
    const { hold, arrived } = begin(t)
    hold.jump(500)
    hold.jump(900)
    t.mock.timers.tick(LONG_MS)
    assert.deepEqual(arrived, [900])
    assert.equal(hold.goal, null)
  })

  test('follow a drag as rows are loaded, and end at the last position', (t) => {
    const { hold, arrived } = begin(t)
    for (const place of [100, 200, 300, 400]) hold.jump(place)
    hold.look((offset) => offset <= 200)
    assert.deepEqual(arrived, [200])
    assert.equal(hold.goal, 400)
    hold.look(() => true)
    assert.deepEqual(arrived, [200, 400])
    assert.equal(hold.goal, null)
  })

  test('are dropped when the user scrolls elsewhere', (t) => {
    const { hold, arrived } = begin(t)
    hold.jump(500)
    hold.drop()
    hold.look(() => true)
    t.mock.timers.tick(LONG_MS)
    assert.deepEqual(arrived, [])
  })

  test('forget old positions, but never the last', (t) => {
    const { hold, arrived } = begin(t)
    for (let place = 1; place <= 1000; place += 1) hold.jump(place)
    hold.look((offset) => offset < 500)
    assert.deepEqual(arrived, [])
    hold.look((offset) => offset === 1000)
    assert.deepEqual(arrived, [1000])
  })
})
