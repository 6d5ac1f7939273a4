import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { keepSpare, takeSpare } from './spare-threads.ts'

const MODULE = new URL(
  'data:text/javascript,import { parentPort } from "node:worker_threads"; parentPort.on("message", (text) => parentPort.postMessage(text))',
)

test('a thread that was left serves its module once more, and answers only to its new owner', async (t) => {
  const worker = new Worker(MODULE)
  t.after(() => worker.terminate())
  const former: unknown[] = []
  const listener = (text: unknown): number => former.push(text)
  worker.on('message', listener)
  worker.off('message', listener)
  keepSpare(MODULE, worker)
  assert.equal(takeSpare(new URL('data:text/javascript,')), undefined)
  assert.equal(takeSpare(MODULE), worker)
  assert.equal(takeSpare(MODULE), undefined)
  const message = once(worker, 'message')
  worker.postMessage('a')
  assert.deepEqual(await message, ['a'])
  assert.deepEqual(former, [])
})

test('one thread of a module is kept, and none that has ended', async () => {
  const [first, second] = [new Worker(MODULE), new Worker(MODULE)]
  const secondEnds = once(second, 'exit')
  keepSpare(MODULE, first)
  keepSpare(MODULE, second)
  await secondEnds
  await first.terminate()
  assert.equal(takeSpare(MODULE), undefined)
})
