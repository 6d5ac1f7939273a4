import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSync, runAsync, load, type Loaded, type Steps } from './steps.ts'

function* sum(read: (index: number) => Loaded<number>): Steps<number> {
  let total = 0
  for (let index = 0; index < 3; index += 1) total += yield* load(read(index))
  return total
}

function* caught(read: () => Loaded<number>): Steps<string> {
  try {
    yield* load(read())
    return 'read'
  } catch (error) {
    return String(error)
  }
}

test('steps have the same result at once and over promises', async () => {
  assert.equal(runSync(sum((index) => index * 10)), 30)
  assert.equal(await runAsync(sum((index) => Promise.resolve(index * 10))), 30)
})

test('a step can catch the error of another, synchronously and with promises', async () => {
  const fail = (): never => {
    throw new Error('unreadable')
  }
  assert.equal(runSync(caught(fail)), 'Error: unreadable')
  assert.equal(await runAsync(caught(async () => fail())), 'Error: unreadable')
})
