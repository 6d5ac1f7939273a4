import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupFailures, type RunFailure } from './group-failures.ts'

function failure(
  record_id: string,
  request: string,
  detail: string,
  error_type = 'ServiceError',
): RunFailure {
  const error = `${request} -> ${detail}`
  return {
    record_id,
    field: 'zones',
    error,
    detail,
    error_type,
    reason: 'status',
    at: '2026-03-01T10:00:00.000Z',
  }
}

test('errors are grouped by detail, and by the host of a URL', () => {
  const groups = groupFailures([
    failure('AQ', 'GET http://127.0.0.1:4010/countries/AQ/time-zones', '404'),
    failure('BV', 'GET https://a.example?x=1', '404'),
    failure('HM', 'GET http://127.0.0.1:4010/countries/HM/time-zones', '404'),
    failure('a', 'refs/companies.csv, domain "a -> b"', '2 rows have this key; keep one'),
    failure('b', 'refs/companies.csv, domain "http://b"', '2 rows have this key; keep one'),
  ])
  assert.deepEqual(
    groups.map(({ text, failures }) => [text, failures.length]),
    [
      ['GET http://127.0.0.1:4010/… -> 404', 2],
      ['GET https://a.example?x=1 -> 404', 1],
      ['2 rows have this key; keep one', 2],
    ],
  )
})

test('errors of an earlier version, without a detail, are grouped if they are the same', () => {
  const old = (id: string, error: string): RunFailure => ({ ...failure(id, '', ''), error, detail: null })
  const groups = groupFailures([old('a', 'GET http://h/a -> 404'), old('b', 'GET http://h/b -> 404')])
  assert.deepEqual(
    groups.map(({ text }) => text),
    ['GET http://h/a -> 404', 'GET http://h/b -> 404'],
  )
})

test('failures are grouped, and a single one keeps all of its text', () => {
  const groups = groupFailures([
    failure('AQ', 'GET http://h/AQ', '404'),
    failure('BV', 'GET http://h/BV', '503'),
    failure('HM', 'GET http://h/HM', '404'),
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
  const said = { ...failure('AQ', 'GET http://h/AQ', '404'), response_body: '{"error": "unknown"}' }
  const [group] = groupFailures([said, failure('HM', 'GET http://h/HM', '404')])
  assert.equal(group?.body, '{"error": "unknown"}')
})

test('the same text with two types is two groups', () => {
  assert.equal(groupFailures([failure('a', 'x', 'y'), failure('b', 'x', 'y', 'ValidationError')]).length, 2)
  assert.deepEqual(groupFailures([]), [])
})
