import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryDetails } from './entry-details.ts'

const ENTRY = {
  seq: 1,
  at: '2026-03-10T11:57:00.000Z',
  actor: 'human:ann',
  source: 'write',
  record_id: 'a',
  field: 'length',
  value: 3,
  previous: null,
}

test('an entry shows the request of a call, the evidence of another kind, and nothing for a write', () => {
  const computed = { ...ENTRY, derivation: 'x.yaml', input_hash: 'sha256:ab', run_id: '4', cached: false }
  const called = { ...computed, source: 'http', method: 'GET', url: 'https://rates.example/a', status: 200 }
  assert.equal(entryDetails(called), 'GET https://rates.example/a')
  const measured = { ...computed, source: 'measure', unit: 'characters', characters: 3 }
  assert.equal(entryDetails(measured), 'unit: characters, characters: 3')
  const steps = [
    { step: 1, kind: 'http', outcome: 'refused', detail: 'accept is false', cost: 0.01 },
    { step: 2, kind: 'ai', outcome: 'accepted', cost: 0.002 },
  ]
  const tried = { ...computed, source: 'first', step: 2, steps }
  assert.equal(entryDetails(tried), '1 http, refused: accept is false ($0.01); 2 ai, accepted ($0.002)')
  assert.equal(entryDetails(ENTRY), null)
})
