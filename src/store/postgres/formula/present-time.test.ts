import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../../../contract/json/json.ts'
import { presentIn } from './present-time.ts'

for (const text of [
  'now',
  ' Today ',
  ',today',
  '"yesterday"',
  '12:00today',
  'today12:00 pm EST',
  'Sunday tomorrow at T12:00 America/Port-au-Prince',
  'now EST5EDT',
  'today_',
  '{2024-01-01,NOW}',
  '[2024-01-01,today)',
  '{[today,],"[2024-01-01,to\\"\\"morrow)"}',
  'to\\day',
]) {
  test(`${text} may be the present time`, () => {
    assert.equal(presentIn(text), text)
    assert.equal(presentIn([1, { a: ['x', text] }]), text)
    assert.equal(presentIn({ [text]: null }), text)
  })
}

test('texts that PostgreSQL takes for no date are not the present time', () => {
  const others: JsonValue = [
    'Now and then',
    'The day after tomorrow',
    'nowhere',
    'snow',
    'epoch',
    '2024-02-29',
    '',
    7,
    null,
  ]
  assert.equal(presentIn(others), null)
})
