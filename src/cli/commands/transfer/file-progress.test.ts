import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesText, fileLine, progressWords } from './file-progress.ts'
import { plainScreen } from '../../terminal/terminal.ts'

const PROGRESS = {
  what: 'checked',
  done: 250_000,
  amount: (count: number) => `${count} records`,
  share: 0.25,
}

test('the text has the progress, the rate and the time left', () => {
  assert.equal(progressWords(PROGRESS, 10_000), 'checked 250000 records · 10000 records/s · 1 m 15 s left')
  assert.equal(progressWords(PROGRESS, null), 'checked 250000 records')
  assert.equal(
    progressWords({ ...PROGRESS, share: null }, 10_000),
    'checked 250000 records · 10000 records/s',
  )
})

test('the line has a bar if the width allows it and the total is known', () => {
  const words = progressWords(PROGRESS, null)
  assert.equal(fileLine(PROGRESS, words, plainScreen(80)), `██████${'░'.repeat(18)}  25 %  ${words}`)
  assert.equal(fileLine({ ...PROGRESS, share: null }, words, plainScreen(80)), words)
  assert.equal(fileLine(PROGRESS, words, plainScreen(12)), 'checked 25…')
})

test('bytes have readable units', () => {
  assert.deepEqual([bytesText(512), bytesText(3 << 20)], ['0.5 KiB', '3.0 MiB'])
})
