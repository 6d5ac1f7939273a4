import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunningStore } from './running-store.ts'
import { runOf } from '../test-runs.ts'

test('the working run is shown, not one that waits for it', () => {
  const store = new RunningStore()
  store.readList([runOf({ id: '10' }), runOf({ id: '9', total: 5, done: 1 })], 0)
  assert.equal(store.running.run?.id, '9')
  assert.equal(store.running.waiting, 1)
  store.end('9')
  assert.equal(store.running.run?.id, '10')
  assert.equal(store.running.waiting, 0)
})

test('a list that is older than the stream changes nothing', () => {
  const store = new RunningStore()
  store.begin(runOf({ id: '1' }))
  store.progress({ ...runOf({ id: '1' }), done: 7, total: 10 }, 0)
  store.readList([runOf({ id: '1', done: 3, total: 10 })], 10)
  assert.equal(store.running.run?.done, 7)
  store.readList([], 20)
  assert.equal(store.running.run?.id, '1', 'the list was read before the run began')
  assert.equal(store.end('1'), true)
  store.readList([runOf({ id: '1', done: 8, total: 10 })], 30)
  assert.equal(store.running.run, null, 'the list was read before the run ended')
})

test('the end of a run is reported once, from any source', () => {
  const store = new RunningStore()
  store.begin(runOf({ id: '1' }))
  assert.deepEqual(
    store.readList([runOf({ id: '1', state: 'finished' })], 0).map(({ id }) => id),
    ['1'],
  )
  assert.equal(store.end('1'), false)
  assert.deepEqual(store.readList([runOf({ id: '1', state: 'finished' })], 0), [])
})

test('the end of runs that were not seen running is not reported', () => {
  assert.deepEqual(new RunningStore().readList([runOf({ id: '4', state: 'failed' })], 0), [])
})

test('the end of a run between two lists is reported, once', () => {
  const store = new RunningStore()
  store.readList([], 0)
  const over = runOf({ id: '5', state: 'finished' })
  assert.deepEqual(store.readList([over], 10), [over])
  assert.deepEqual(store.readList([over], 20), [])
  assert.equal(store.end('5'), false)
})

test('a run that had ended before its start was confirmed is not shown', () => {
  const store = new RunningStore()
  store.begin(runOf({ id: '1', state: 'finished' }))
  assert.equal(store.running.run, null)
})

test('the running object is identical until it changes', () => {
  const store = new RunningStore()
  store.begin(runOf({ id: '1' }))
  assert.equal(store.running, store.running)
})
