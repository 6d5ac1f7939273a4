import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBatchErrors } from './batch-errors.ts'

const SENT = [{ id: 'DE' }, { id: 'a "b"; c' }, { id: 'x'.repeat(100) }]

test('errors are parsed with position, field and text', () => {
  const message =
    'records[0] (id "DE"), field "area": 0 is too low: must be more than 0; ' +
    'records[1] (id "a \\"b\\"; c"), field "name": null, but a value is required'
  assert.deepEqual(parseBatchErrors(message, SENT), [
    { position: 0, field: 'area', text: '0 is too low: must be more than 0' },
    { position: 1, field: 'name', text: 'null, but a value is required' },
  ])
})

test('a text with a semicolon is one error', () => {
  const message =
    'records[0] (id "DE"), field "alpha3": actor "a; b" may not write it; it is derived, so materialize computes it'
  assert.deepEqual(parseBatchErrors(message, SENT), [
    {
      position: 0,
      field: 'alpha3',
      text: 'actor "a; b" may not write it; it is derived, so materialize computes it',
    },
  ])
})

test('a value that looks like an error is not one', () => {
  const value = JSON.stringify('; records[1] (id "a"), field "name": nonsense')
  const message = `records[0] (id "DE"), field "alpha3": ${value} does not match the pattern ^[A-Z]{3}$`
  assert.equal(parseBatchErrors(message, SENT).length, 1)
})

test('a position that is not in the request begins no error', () => {
  const message =
    'records[0] (id "DE"), field "a": x; records[9] (id "DE"), field "b": y; records[1] (id "other"), field "c": z'
  assert.deepEqual(
    parseBatchErrors(message, SENT).map(({ field }) => field),
    ['a'],
  )
})

test('long ids are compared as messages shorten them', () => {
  const message = `records[2] (id "${'x'.repeat(77)}…"), field "a": is required; and 12 more`
  assert.deepEqual(parseBatchErrors(message, SENT), [{ position: 2, field: 'a', text: 'is required' }])
})

test('a record without an id is known by its position', () => {
  assert.equal(parseBatchErrors('records[0] (no id), field "id": is required', SENT)[0]?.field, 'id')
})

test('messages of another form are about the whole request', () => {
  assert.deepEqual(parseBatchErrors('the server does not answer', SENT), [])
  assert.deepEqual(parseBatchErrors('oh: records[0] (id "DE"), field "a": x', SENT), [])
  assert.deepEqual(parseBatchErrors('', SENT), [])
})
