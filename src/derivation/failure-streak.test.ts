import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Failure } from '../errors/failure.ts'
import { OperationError } from '../errors/service-error.ts'
import { FailureStreak } from './failure-streak.ts'

function status(code: number, responseBody?: string): Failure {
  const body = responseBody === undefined ? {} : { responseBody }
  return { reason: 'status', request: 'GET https://h/a', status: code, ...body }
}

test('failures in a row at one host stop a run; a success, and another host, start a new count', () => {
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

test('a single 401, 402 or 403 stops a run; without a limit nothing does', () => {
  for (const code of [401, 402, 403]) {
    const streak = new FailureStreak(20)
    streak.note('h', status(code))
    assert.match(streak.stopped?.message ?? '', /^h refused a call, .*-> 40[123]; /)
    const none = new FailureStreak(null)
    none.note('h', status(code))
    assert.equal(none.stopped, null)
  }
})

/** Simulates processes that compute a run together and add up the failures in a row at `h`. */
function processes(
  count: number,
  limit: number,
): { each: FailureStreak[]; tell(streak: FailureStreak): void } {
  let sum = 0
  return {
    each: Array.from({ length: count }, () => new FailureStreak(limit)),
    tell: (streak) => {
      for (const { failures, succeeded } of streak.take()) sum = failures + (succeeded ? 0 : sum)
      if (sum > 0) streak.learn(new Map([['h', sum]]))
    },
  }
}

test('failures in a row are those of all processes that compute a run', () => {
  const { each, tell } = processes(3, 5)
  for (const streak of each) {
    assert.equal(streak.stopped, null)
    streak.note('h', status(500))
    streak.note('h', status(500))
    tell(streak)
  }
  assert.match(each[2]?.stopped?.message ?? '', /^6 calls in a row failed at h, .* -> 500; /)
})

test('a success at any process ends the streak of all, unless more failed since', () => {
  const { each, tell } = processes(2, 4)
  const [one, other] = each as [FailureStreak, FailureStreak]
  for (const streak of [one, other, one]) {
    streak.note('h', status(500))
    tell(streak)
  }
  other.note('h', null)
  other.note('h', status(500))
  tell(other)
  for (const streak of [one, other]) {
    streak.note('h', status(500))
    tell(streak)
  }
  assert.deepEqual([one.stopped, other.stopped], [null, null])
  one.note('h', status(500))
  assert.match(one.stopped?.message ?? '', /^4 calls in a row/)
})

test('counts that could not be reported are reported later, followed by newer ones', () => {
  const streak = new FailureStreak(9)
  streak.note('h', status(500))
  const notes = streak.take()
  assert.deepEqual(streak.take(), [])
  streak.note('h', status(500))
  streak.giveBack(notes)
  const later = streak.take()
  assert.deepEqual(later, [{ host: 'h', failures: 2, succeeded: false }])
  streak.note('h', null)
  streak.giveBack(later)
  assert.deepEqual(streak.take(), [{ host: 'h', failures: 0, succeeded: true }])
})
