import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dollars, duration, progressLine, progressSentence, rateOf } from './progress-line.ts'
import { plainScreen } from './terminal.ts'
import { textWidth } from './text-width.ts'

const HALFWAY = { done: 1250, total: 2500, failed: 3, calls: 900, totalCost: 1.5 }

test('a run shows bar, cells, rate, time left, failures, calls and cost', () => {
  assert.equal(
    progressLine(HALFWAY, 25, plainScreen(120)),
    '████████████░░░░░░░░░░░░  50 %  1,250/2,500 cells · 25/s · 50 s left · 3 failed · 900 calls · $1.50',
  )
})

test('counts of zero are left out', () => {
  const counts = { done: 0, total: 10, failed: 0, calls: 0, totalCost: 0 }
  assert.equal(progressLine(counts, null, plainScreen(80)), '░░░░░░░░░░░░░░░░░░░░░░░░   0 %  0/10 cells')
  assert.equal(progressLine({ ...counts, total: 0 }, null, plainScreen(80)), 'waiting for the run to begin …')
})

test('the line is narrower than the screen, so that it can be redrawn in place', () => {
  for (let width = 8; width <= 120; width++) {
    const line = progressLine(HALFWAY, 25, plainScreen(width))
    assert.ok(textWidth(line) < width, `${width}: ${line}`)
    assert.match(line, /50 %/)
  }
})

test('the log line has the same content as text', () => {
  assert.equal(
    progressSentence(HALFWAY, 0.5),
    '1,250/2,500 cells, 0.5/s, 41 m 40 s left, 3 failed, 900 calls, $1.50',
  )
})

test('failures are red', () => {
  const line = progressLine(HALFWAY, 25, plainScreen(120, { colour: true }))
  assert.ok(line.includes('\u001b[31m3 failed\u001b[39m'))
})

test('the rate is computed from the known samples', () => {
  assert.equal(rateOf([]), null)
  assert.equal(rateOf([{ at: 0, done: 5 }]), null)
  assert.equal(
    rateOf([
      { at: 1000, done: 5 },
      { at: 3000, done: 25 },
    ]),
    10,
  )
})

test('times and dollars are formatted for people', () => {
  assert.deepEqual([0.2, 59, 60, 3599, 3600, 90_000].map(duration), [
    '1 s',
    '59 s',
    '1 m 0 s',
    '59 m 59 s',
    '1 h 0 m',
    '1 d 1 h',
  ])
  assert.deepEqual([0, 0.000123456, 0.1398, 1, 1234.5].map(dollars), [
    '$0.00',
    '$0.000123',
    '$0.14',
    '$1.00',
    '$1,234.50',
  ])
})
