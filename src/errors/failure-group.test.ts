import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonError, failureGroup, groupId, groupNumber } from './failure-group.ts'

function failure(request: string, detail: string) {
  return { error: `${request} -> ${detail}`, detail, errorType: 'ServiceError' } as const
}

test('a group is failures with the same detail, of requests to the same host', () => {
  const [one, other] = ['AQ', 'HM'].map((id) =>
    failure(`GET http://127.0.0.1:4010/countries/${id}/time-zones`, '404'),
  ) as [ReturnType<typeof failure>, ReturnType<typeof failure>]
  assert.equal(failureGroup(one), failureGroup(other))
  assert.equal(commonError(one), 'GET http://127.0.0.1:4010/… -> 404')
  for (const another of [
    failure('GET http://127.0.0.1:4010/countries/AQ/time-zones', '503'),
    failure('GET http://127.0.0.1/countries/AQ/time-zones', '404'),
    { ...one, errorType: 'ValidationError' } as const,
  ])
    assert.notEqual(failureGroup(another), failureGroup(one))
})

test('a request that is no URL is not part of a group', () => {
  const texts = ['refs/companies.csv, domain "a -> b"', 'refs/companies.csv, domain "http://b"'].map(
    (request) => commonError(failure(request, '2 rows have this key; keep one')),
  )
  assert.deepEqual(new Set(texts), new Set(['2 rows have this key; keep one']))
})

test('failures of an earlier version, without a detail, are a group if they are the same', () => {
  const old = (error: string) => failureGroup({ error, errorType: 'ServiceError' })
  assert.equal(old('GET http://h/a -> 404'), old('GET http://h/a -> 404'))
  assert.notEqual(old('GET http://h/a -> 404'), old('GET http://h/b -> 404'))
})

test('an id has 13 digits, and gives its number back', () => {
  for (const number of [0, 1, failureGroup(failure('x', 'y')), 2 ** 52 - 1]) {
    assert.equal(groupId(number).length, 13)
    assert.equal(groupNumber(groupId(number)), number)
  }
  for (const text of ['', '404', '00000000000000', '0A1B2C3D4E5F6', '0a1b2c3d4e5f6\n'])
    assert.equal(groupNumber(text), null)
})
