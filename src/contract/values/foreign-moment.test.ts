import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseForeignMoment, readMoment, type DateOrder } from './foreign-moment.ts'

const MOMENTS: readonly (readonly [text: string, order: DateOrder | null, timestamp: string])[] = [
  ['2024-01-01 00:00:00', null, '2024-01-01T00:00:00Z'],
  ['2024-01-01 10:30:00.123456', null, '2024-01-01T10:30:00.123456Z'],
  ['2024-01-01 10:30:00+00:00', null, '2024-01-01T10:30:00+00:00'],
  ['2024-01-01 10:30:00+02', null, '2024-01-01T10:30:00+02:00'],
  ['2024-01-01T10:30:00+0530', null, '2024-01-01T10:30:00+05:30'],
  ['2024-01-01T10:30', null, '2024-01-01T10:30:00Z'],
  ['2024-01-01 10:30 UTC', null, '2024-01-01T10:30:00Z'],
  ['2024/1/31', null, '2024-01-31T00:00:00Z'],
  ['2024.01.31', null, '2024-01-31T00:00:00Z'],
  ['31.12.2024', null, '2024-12-31T00:00:00Z'],
  ['31.12.2024 14:05', null, '2024-12-31T14:05:00Z'],
  ['12/31/2024', null, '2024-12-31T00:00:00Z'],
  ['12/31/2024 2:05 PM', null, '2024-12-31T14:05:00Z'],
  ['12/31/2024, 12:05:09 a.m.', null, '2024-12-31T00:05:09Z'],
  ['05-05-2024', null, '2024-05-05T00:00:00Z'],
  ['03/04/2024', 'dmy', '2024-04-03T00:00:00Z'],
  ['03/04/2024', 'mdy', '2024-03-04T00:00:00Z'],
  ['Jun 12 1998', null, '1998-06-12T00:00:00Z'],
  ['June 2nd, 1998', null, '1998-06-02T00:00:00Z'],
  ['12 June 1998', null, '1998-06-12T00:00:00Z'],
  ['12-JUN-1998', null, '1998-06-12T00:00:00Z'],
  ['Fri, 12 Jun 1998 10:00:00 GMT', null, '1998-06-12T10:00:00Z'],
]

test('dates and times of common tools are read as timestamps; without an offset they count as UTC', () => {
  for (const [text, order, timestamp] of MOMENTS)
    assert.equal(readMoment('timestamp', text, order), timestamp, text)
})

test('a timestamp at midnight is a date, others are not', () => {
  const dates: readonly (readonly [string, string | null])[] = [
    ['2024-01-01 00:00:00', '2024-01-01'],
    ['2024-01-01T00:00:00Z', '2024-01-01'],
    ['2024-01-01T00:00:00.000+02:00', '2024-01-01'],
    ['2024-01-01T00:00:01Z', null],
    ['31.12.2024', '2024-12-31'],
    ['31.12.2024 0:00', '2024-12-31'],
    ['31.12.2024 10:00', null],
  ]
  for (const [text, date] of dates) assert.equal(readMoment('date', text, null), date, text)
})

test('an ambiguous or invalid date is not read', () => {
  for (const text of [
    '03/04/2024',
    '31.12.24',
    '31/31/2024',
    '2024-02-30 00:00:00',
    '2024-01-01 24:30:00',
    '2024-01-01 13:00 PM',
    '1.2.3.2024',
    '31.12/2024',
    'Junk 12 1998',
    '12 1998',
    '+41 79 123 2024',
    '20240101',
    `${' '.repeat(80)}2024-01-01 00:00`,
  ])
    assert.equal(readMoment('timestamp', text, null), null, text)
  assert.equal(parseForeignMoment('x'.repeat(1000)), null)
})
