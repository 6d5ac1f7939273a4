import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RateLimiter } from './rate-limiter.ts'

/** Returns pseudo-random numbers from 0 up to 1, the same in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Returns the most of these ascending times that lie in one window. */
function mostWithin(times: readonly number[], windowMs: number): number {
  let from = 0
  let most = 0
  for (const [index, time] of times.entries()) {
    while ((times[from] ?? time) <= time - windowMs) from += 1
    most = Math.max(most, index - from + 1)
  }
  return most
}

interface Way {
  /** Delay of the timer that a try waits for, in milliseconds. */
  late(): number
  /** Milliseconds until a try is sent. */
  connect(): number
  /** Milliseconds from then until it arrives. */
  travel(): number
}

/** Starts tries as soon as the limiter allows, and returns when they arrive at the host. */
function arrivals(limiter: RateLimiter, tries: number, way: Way): readonly number[] {
  const arrived: number[] = []
  const leaving: number[] = []
  let now = 0
  const send = (until: number): void => {
    leaving.sort((a, b) => a - b)
    for (let first = leaving[0]; first !== undefined && first <= until; first = leaving[0]) {
      leaving.shift()
      now = first
      limiter.sent(now)
      arrived.push(now + way.travel())
    }
  }
  for (let index = 0; index < tries;) {
    const wait = limiter.wait(now)
    if (wait > 0) {
      const next = Math.min(now + Math.ceil(wait) + way.late(), ...leaving)
      send(next)
      now = next
      continue
    }
    limiter.start(now)
    leaving.push(now + way.connect())
    send(now)
    index += 1
  }
  send(Infinity)
  return arrived.toSorted((a, b) => a - b)
}

function limiterOf(calls: number, perMs: number): RateLimiter {
  const limiter = new RateLimiter()
  limiter.setLimit({ calls, perMs })
  return limiter
}

for (const [calls, perMs] of [
  [1, 1000],
  [2, 1000],
  [10, 1000],
  [1000, 1000],
  [7, 60_000],
  [600, 60_000],
  [1000, 3_600_000],
] as const) {
  test(`of ${calls} in ${perMs} ms never one more arrives in any window, whatever timers, connections and packets do`, () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const random = seeded(seed)
      const times = arrivals(limiterOf(calls, perMs), 5 * calls + 20, {
        late: () => random() * 40,
        connect: () => (random() < 0.1 ? random() * perMs : random() * 5),
        travel: () => 100 + random() * Math.max(perMs / 26, 99),
      })
      assert.ok(mostWithin(times, perMs) <= calls, `seed ${seed}: ${mostWithin(times, perMs)}`)
    }
  })

  test(`of ${calls} in ${perMs} ms at least ${perMs === 1000 ? 89 : 94} % are reached, although timers are up to 2 ms late`, () => {
    const random = seeded(1)
    const tries = 5 * calls + 20
    const times = arrivals(limiterOf(calls, perMs), tries, {
      late: () => 1 + random(),
      connect: () => 0,
      travel: () => 0,
    })
    const took = (times.at(-1) ?? 0) - (times[0] ?? 0)
    assert.ok(
      ((tries - 1) * perMs) / took >= calls * (perMs === 1000 ? 0.89 : 0.94),
      `${took} ms for ${tries}`,
    )
  })
}

test('without a limit no call waits', () => {
  const limiter = new RateLimiter()
  for (let index = 0; index < 1000; index += 1) {
    assert.equal(limiter.wait(0), 0)
    limiter.start(0)
  }
})

test('unsent tries use the limit up; the time to wait is then unknown', () => {
  const limiter = limiterOf(2, 1000)
  for (const now of [0, 2000]) {
    assert.equal(limiter.wait(now), 0)
    limiter.start(now)
  }
  assert.equal(limiter.wait(60_000), Infinity)
  limiter.sent(60_000)
  assert.equal(limiter.wait(60_000), 1100)
  assert.equal(limiter.wait(61_100), 0)
})

test('a new limit applies from the last start on', () => {
  const limiter = limiterOf(1, 3_600_000)
  limiter.start(0)
  limiter.sent(0)
  limiter.setLimit({ calls: 1, perMs: 3_600_000 })
  assert.ok(limiter.wait(1000) > 3_600_000)
  limiter.setLimit({ calls: 10, perMs: 1000 })
  assert.equal(limiter.wait(50), 61)
  limiter.setLimit(null)
  assert.equal(limiter.wait(50), 0)
})

test('old tries are removed in a long run, and the limit still holds', () => {
  const times = arrivals(limiterOf(5, 1000), 20_000, { late: () => 0, connect: () => 0, travel: () => 0 })
  assert.equal(mostWithin(times, 1000), 5)
})
