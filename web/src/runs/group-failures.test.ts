import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorPattern, groupFailures, type RunFailure } from './group-failures.ts'

function failure(record_id: string, error: string, error_type = 'ServiceError'): RunFailure {
  return { record_id, field: 'zones', error, error_type, reason: 'status', at: '2026-03-01T10:00:00.000Z' }
}

test('errors of calls are grouped by host and reason', () => {
  assert.equal(
    errorPattern('GET http://127.0.0.1:4010/countries/AQ/time-zones -> 404'),
    'GET http://127.0.0.1:4010/… -> 404',
  )
  assert.equal(
    errorPattern('GET https://a.example?x=1 -> no "a -> b" in\nit'),
    'GET https://a.example/… -> no "a -> b" in\nit',
  )
  assert.equal(errorPattern('no record "a"'), 'no record "a"')
})

test('failures are grouped, and a single one keeps all of its text', () => {
  const groups = groupFailures([
    failure('AQ', 'GET http://h/AQ -> 404'),
    failure('BV', 'GET http://h/BV -> 503'),
    failure('HM', 'GET http://h/HM -> 404'),
  ])
  assert.deepEqual(
    groups.map(({ text, failures }) => [text, failures.map(({ record_id }) => record_id)]),
    [
      ['GET http://h/… -> 404', ['AQ', 'HM']],
      ['GET http://h/BV -> 503', ['BV']],
    ],
  )
})

test('a group has the response of its first failure', () => {
  const said = { ...failure('AQ', 'GET http://h/AQ -> 404'), response_body: '{"error": "unknown"}' }
  const [group] = groupFailures([said, failure('HM', 'GET http://h/HM -> 404')])
  assert.equal(group?.body, '{"error": "unknown"}')
})

test('the same text with two types is two groups', () => {
  assert.equal(groupFailures([failure('a', 'x'), failure('b', 'x', 'ValidationError')]).length, 2)
  assert.deepEqual(groupFailures([]), [])
})
