import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import { changesOf } from './record-history.ts'

const entry = (
  seq: number,
  field: string,
  rest: Partial<ProvenanceEntryAnswer> = {},
): ProvenanceEntryAnswer => ({
  seq,
  at: `2026-01-01T00:00:0${seq}.000Z`,
  actor: 'human:ann',
  source: 'write',
  record_id: 'a',
  field,
  value: 'x',
  previous: null,
  ...rest,
})

test('entries that were written together are one change, and the newest is first', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const name = [entry(1, 'name', { at }), entry(4, 'name')]
  const area = [entry(2, 'area', { at }), entry(3, 'area', { at, source: 'import' })]
  assert.deepEqual(
    changesOf([...name, ...area]).map(({ entries }) => entries.map(({ field, seq }) => `${field} ${seq}`)),
    [['name 4'], ['area 3'], ['name 1', 'area 2']],
  )
})

test('an entry that found no value and wrote none is left out', () => {
  assert.deepEqual(changesOf([entry(1, 'name', { value: null })]), [])
})

test('an erasure is a change of the record, and so is an entry whose value was erased, apart from others of its line', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const erased = entry(1, 'email', { at, value: null, erased: 'hash', erased_fields: ['email'] })
  const erasure = entry(2, 'email', { source: 'erase', value: null })
  assert.deepEqual(
    changesOf([erased, entry(1, 'name', { at }), erasure]).map(({ entries }) =>
      entries.map(({ field }) => field),
    ),
    [['email'], ['email'], ['name']],
  )
})
