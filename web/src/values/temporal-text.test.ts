import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPicker, localTimestamp, normalTemporal, offsetText, toPicker } from './temporal-text.ts'

test('offsets have the form of ISO 8601', () => {
  assert.equal(offsetText(0), 'Z')
  assert.equal(offsetText(60), '+01:00')
  assert.equal(offsetText(-570), '-09:30')
  assert.equal(offsetText(345), '+05:45')
})

test('a picked value has the type, and the same moment', () => {
  const picked = fromPicker('timestamp', '2024-03-10T14:22')
  assert.equal(normalTemporal('timestamp', picked), picked)
  assert.equal(new Date(picked).getTime(), new Date('2024-03-10T14:22:00').getTime())
  assert.equal(toPicker('timestamp', picked), '2024-03-10T14:22:00')
  assert.equal(fromPicker('date', '2024-03-10'), '2024-03-10')
})

test('pickers start empty for an invalid value', () => {
  assert.equal(toPicker('date', 'soon'), '')
  assert.equal(toPicker('timestamp', '2024-03-10'), '')
  assert.equal(toPicker('timestamp', '0000-01-01T00:00Z').includes('NaN'), false)
  assert.equal(toPicker('time', '14:22:35.5+01:00'), '14:22:35')
  assert.equal(toPicker('time', '14:22Z'), '14:22')
})

test('a timestamp is edited in local time, with its offset and all its digits', () => {
  const zone = process.env['TZ']
  process.env['TZ'] = 'Europe/Berlin'
  try {
    assert.equal(localTimestamp('2024-03-10T14:22:35Z'), '2024-03-10 15:22:35+01:00')
    assert.equal(localTimestamp('2024-07-10T14:22:35.123456Z'), '2024-07-10 16:22:35.123456+02:00')
    assert.equal(localTimestamp('2024-03-10T23:30:00-05:00'), '2024-03-11 05:30:00+01:00')
    assert.equal(localTimestamp('soon'), 'soon')
    const edited = normalTemporal('timestamp', localTimestamp('2024-03-10T14:22:35Z'))
    assert.equal(edited, '2024-03-10T15:22:35+01:00')
  } finally {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  }
})
