import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { CellOfRun } from '../derivation/run-request.ts'
import { NO_PROGRESS } from './active-run.ts'
import { RunFeed, type RunFrame } from './run-feed.ts'

const CELL: CellOfRun = { recordId: 'a', field: 'x' }

/** Returns a feed with a subscriber, and the cells of its frames since the last call, by state. */
function feedWithReader(t: TestContext): { feed: RunFeed; cells: () => string[] } {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const feed = new RunFeed('1', NO_PROGRESS)
  const subscription = feed.subscribe(() => undefined)
  const cells = (): string[] => {
    const frames: RunFrame[] = []
    for (let frame = subscription.take(); frame !== undefined; frame = subscription.take()) frames.push(frame)
    return frames.flatMap((frame) =>
      frame.kind === 'run.cells' ? frame.cells.map(({ recordId, state }) => `${recordId} ${state}`) : [],
    )
  }
  return { feed, cells }
}

test('cells are listed while their call is under way, again and again, and then with their results', async (t) => {
  const { feed, cells } = feedWithReader(t)
  const stored = Promise.withResolvers<void>()
  feed.onBegun([CELL, { ...CELL, recordId: 'b' }], stored.promise)
  t.mock.timers.tick(200)
  assert.deepEqual(cells(), ['a running', 'b running'])
  t.mock.timers.tick(800)
  t.mock.timers.tick(200)
  assert.deepEqual(cells(), ['a running', 'b running'])
  feed.onCells([{ ...CELL, state: 'fresh', value: 1 }])
  stored.resolve()
  await stored.promise
  for (let ticks = 0; ticks < 10; ticks++) t.mock.timers.tick(200)
  assert.deepEqual(cells(), ['a fresh'])
  feed.close()
})

test('a result is listed in place of the call that led to it', (t) => {
  const { feed, cells } = feedWithReader(t)
  feed.onBegun([CELL], Promise.resolve())
  feed.onCells([{ ...CELL, state: 'fresh', value: 1 }])
  t.mock.timers.tick(200)
  assert.deepEqual(cells(), ['a fresh'])
  feed.close()
})
