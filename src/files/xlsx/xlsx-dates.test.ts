import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateShapeOf, serialOfDate, textOfSerial } from './xlsx-dates.ts'

test('dates from March 1900 to the end of 9999 have a serial number, which converts back', () => {
  assert.equal(serialOfDate('1900-03-01'), 61)
  assert.equal(serialOfDate('2024-02-29'), 45351)
  assert.equal(serialOfDate('9999-12-31'), 2958465)
  for (const date of ['1900-03-01', '1999-12-31', '2024-02-29', '9999-12-31']) {
    assert.equal(textOfSerial(serialOfDate(date) ?? -1, 'date', false), date)
  }
  for (const date of ['0000-01-01', '1899-12-31', '1900-02-28']) assert.equal(serialOfDate(date), null)
})

test('serial numbers of other workbooks become dates and times, also with the epoch 1904', () => {
  assert.equal(textOfSerial(1, 'date', false), '1900-01-01')
  assert.equal(textOfSerial(45351.5, 'date', false), '2024-02-29T12:00:00')
  assert.equal(textOfSerial(45351.000011574, 'date', false), '2024-02-29T00:00:01')
  assert.equal(textOfSerial(0.75, 'time', false), '18:00:00')
  assert.equal(textOfSerial(0, 'date', true), '1904-01-01')
  assert.equal(textOfSerial(-1, 'date', false), null)
})

test('the type of a number format is recognized', () => {
  assert.equal(dateShapeOf(14, undefined), 'date')
  assert.equal(dateShapeOf(20, undefined), 'time')
  assert.equal(dateShapeOf(2, undefined), null)
  assert.equal(dateShapeOf(164, 'yyyy\\-mm\\-dd'), 'date')
  assert.equal(dateShapeOf(164, '[$-409]h:mm AM/PM'), 'time')
  assert.equal(dateShapeOf(164, '[h]:mm'), 'time')
  assert.equal(dateShapeOf(164, '0.00 "days"'), null)
  assert.equal(dateShapeOf(164, '#,##0.00_);[Red](#,##0.00)'), null)
  assert.equal(dateShapeOf(164, 'General'), null)
})
