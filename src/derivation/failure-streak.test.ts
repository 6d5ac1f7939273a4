import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Failure } from '../errors/failure.ts'
import { OperationError } from '../errors/service-error.ts'
import { FailureStreak } from './failure-streak.ts'

function status(code: number, responseBody?: string): Failure {
  const body = responseBody === undefined ? {} : { responseBody }
  return { reason: 'status', request: 'GET https://h/a', status: code, ...body }
}

test('failures in a row at one host stop a run; a success in between, and other hosts, begin anew', () => {
  const streak = new FailureStreak(3)
  for (const host of ['h', 'h', 'other', 'other']) streak.note(host, status(500))
  streak.note('h', null)
  streak.note('h', status(500))
  streak.note('h', status(404))
  assert.equal(streak.stopped, null)
  streak.note('h', status(503, 'down\n for a while'))
  const stopped: unknown = streak.stopped
  assert.ok(stopped instanceof OperationError)
  assert.match(
    stopped.message,
    /^3 calls in a row failed at h, .*GET https:\/\/h\/a -> 503: down for a while; /,
  )
})

test('one 401, 402 or 403 is enough; without a limit nothing is', () => {
  for (const code of [401, 402, 403]) {
    const streak = new FailureStreak(20)
    streak.note('h', status(code))
    assert.match(streak.stopped?.message ?? '', /^h refused a call, .*-> 40[123]; /)
    const none = new FailureStreak(null)
    none.note('h', status(code))
    assert.equal(none.stopped, null)
  }
})
