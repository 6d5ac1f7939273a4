import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RateMeter, secondsLeft } from './rate-meter.ts'

test('no rate is shown before there is enough data', () => {
  const meter = new RateMeter()
  assert.equal(meter.perSecond, null)
  meter.add(500, 0)
  assert.equal(meter.perSecond, null)
  meter.add(510, 400)
  assert.equal(meter.perSecond, null)
  meter.add(520, 1500)
  meter.add(540, 2500)
  assert.equal(meter.perSecond, null)
  meter.add(600, 3500)
  assert.equal(meter.perSecond, 40)
})

test('cells that complete at once when the run begins do not count', () => {
  const meter = new RateMeter()
  meter.add(0, 0)
  meter.add(500, 1000)
  meter.add(504, 2000)
  for (let second = 3; second <= 5; second += 1) meter.add(496 + 4 * second, second * 1000)
  assert.equal(meter.perSecond, 4)
})

test('the rate of slow calls that complete in rounds is steady', () => {
  const meter = new RateMeter()
  const rates: number[] = []
  for (let second = 0; second <= 60; second += 1) {
    meter.add(Math.floor(second / 4) * 8, second * 1000)
    if (second >= 20) rates.push(meter.perSecond ?? 0)
  }
  assert.ok(Math.max(...rates) / Math.min(...rates) < 1.5, rates.join(' '))
})

test('earlier speed does not count', () => {
  const meter = new RateMeter()
  for (let second = 0; second <= 10; second += 1) meter.add(second * 100, second * 1000)
  for (let second = 11; second <= 30; second += 1) meter.add(1000 + (second - 10), second * 1000)
  assert.equal(meter.perSecond, 1)
})

test('without progress the rate is zero, and no remaining time is shown', () => {
  const meter = new RateMeter()
  meter.add(5, 0)
  meter.add(5, 20_000)
  meter.add(5, 40_000)
  assert.equal(meter.perSecond, 0)
  assert.equal(secondsLeft({ done: 5, total: 10 }, 0), null)
  assert.equal(secondsLeft({ done: 5, total: 10 }, null), null)
  assert.equal(secondsLeft({ done: 5, total: 10 }, 2.5), 2)
  assert.equal(secondsLeft({ done: 12, total: 10 }, 2), 0)
})

test('a decreasing count restarts the rate', () => {
  const meter = new RateMeter()
  meter.add(100, 0)
  meter.add(0, 1000)
  meter.add(20, 3000)
  meter.add(60, 7000)
  assert.equal(meter.perSecond, 10)
})
