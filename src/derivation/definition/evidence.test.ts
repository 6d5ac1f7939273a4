import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherEvidence } from '../../wire/records/evidence.ts'
import { ProvenanceEntryAnswer } from '../../wire/records/provenance.ts'
import { evidenceOf, refuseCommonMembers } from './evidence.ts'

test('D33: a kind cannot shadow a member that every provenance entry has', () => {
  for (const name of [
    'seq',
    'at',
    'actor',
    'source',
    'value',
    'previous',
    'input_hash',
    'run_id',
    'cached',
  ]) {
    assert.throws(
      () => refuseCommonMembers('odd', { status: 200, [name]: 1 }),
      new RegExp(`kind odd .*"${name}"`),
    )
  }
  assert.doesNotThrow(() =>
    refuseCommonMembers('http', { method: 'GET', url: '', status: 200, duration_ms: 1 }),
  )
})

test('the evidence in an entry is the evidence that its kind added', () => {
  const entry = { seq: 1, at: '', actor: 'a', source: 'http', cached: true, keeps: 3, url: 'u', tokens: 7 }
  assert.deepEqual(evidenceOf(entry), { url: 'u', tokens: 7 })
})

test('for another kind than http, skins show exactly the evidence of an entry', () => {
  const names = Object.keys(ProvenanceEntryAnswer.properties)
  const entry = { ...Object.fromEntries(names.map((name) => [name, 1])), source: 'measure', tokens: 7 }
  assert.deepEqual(Object.fromEntries(otherEvidence(entry as never)), evidenceOf(entry))
})
