import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import { originLine, originSentence, plainSentence, type EntryContext } from './origin-sentence.ts'
import { computedEntry, entryOf, NOW } from './test-entries.ts'

const WRITTEN = entryOf({ seq: 1 })
const COMPUTED = computedEntry({ seq: 2 })

function context(derived: boolean, others: readonly ProvenanceEntryAnswer[] = []): EntryContext {
  return { derived, find: (seq) => others.find((entry) => entry.seq === seq) }
}

function tell(entry: ProvenanceEntryAnswer, about = context(false)): string {
  return plainSentence(originSentence(entry, about), NOW)
}

test('a computed value has its file, actor, time, request and response', () => {
  assert.equal(
    tell(COMPUTED, context(true)),
    'Computed by rate.yaml for agent:pricing, 3 minutes ago — GET https://rates.example/… returned 200 in 120 ms.',
  )
  assert.equal(
    plainSentence(originLine(COMPUTED, context(true)), NOW),
    'Computed by rate.yaml for agent:pricing, 3 minutes ago',
  )
})

test('a value from the cache has the note that no call was made', () => {
  assert.equal(
    tell({ ...COMPUTED, cached: true }, context(true)),
    'Computed by rate.yaml for agent:pricing, 3 minutes ago — from the cache, without a call.',
  )
  assert.match(
    plainSentence(originLine({ ...COMPUTED, cached: true }, context(true)), NOW),
    /, from the cache$/,
  )
})

test('an answer of a model from the cache has the note too', () => {
  const answer = entryOf({ seq: 3, source: 'ai', derivation: 'company.yaml', cached: true })
  assert.match(tell(answer, context(true)), / — from the cache, without a call\.$/)
})

test('nothing is said of requests and calls for a kind that makes none', () => {
  const measured = entryOf({
    seq: 3,
    source: 'measure',
    derivation: 'length.yaml',
    cached: false,
    url: 'file:a',
  })
  assert.equal(tell(measured, context(true)), 'Computed by length.yaml for human:ann, 3 minutes ago.')
  assert.equal(
    tell({ ...measured, cached: true }, context(true)),
    'Computed by length.yaml for human:ann, 3 minutes ago — from the cache.',
  )
})

test('unknown details of a call are left out', () => {
  const { status: _status, duration_ms: _duration, method: _method, ...rest } = COMPUTED
  assert.match(tell(rest), /— GET https:\/\/rates\.example\/…\.$/)
  const { url: _url, ...silent } = rest
  assert.match(tell(silent), /3 minutes ago\.$/)
  assert.equal(tell(entryOf({ seq: 1, source: 'sql' })), 'Computed (sql) by human:ann, 3 minutes ago.')
})

test('a write has its actor, and says that it overrides a derived field', () => {
  assert.equal(tell(WRITTEN), 'Written by human:ann, 3 minutes ago.')
  assert.equal(tell(WRITTEN, context(true)), 'Overridden by human:ann, 3 minutes ago.')
  assert.equal(tell(entryOf({ seq: 1, value: null })), 'Emptied by human:ann, 3 minutes ago.')
  assert.equal(
    tell(entryOf({ seq: 1, value: null }), context(true)),
    'Override removed by human:ann, 3 minutes ago.',
  )
})

test('an accepted proposal has the actors who proposed and accepted it', () => {
  const accepted = entryOf({ seq: 1, proposal: '7', proposed_by: 'agent:writer' })
  assert.equal(tell(accepted), 'Written as proposed by agent:writer, accepted by human:ann, 3 minutes ago.')
  assert.equal(
    plainSentence(originLine({ ...accepted, source: 'delete' }, context(false)), NOW),
    'Deleted with its record as proposed by agent:writer, accepted by human:ann, 3 minutes ago',
  )
})

test('imports and deletions', () => {
  const imported = entryOf({ seq: 1, source: 'import', actor: 'system', file: 'records.jsonl' })
  assert.equal(tell(imported), 'Imported from records.jsonl by system, 3 minutes ago.')
  assert.equal(
    tell(entryOf({ seq: 1, source: 'delete' })),
    'Deleted with its record by human:ann, 3 minutes ago.',
  )
})

test('a conversion is by the actor who changed the field, whatever computed the value before', () => {
  const converted = { ...COMPUTED, source: 'contract', actor: 'human:ann' }
  assert.match(tell(converted), /^Converted with its field by human:ann, 3 minutes ago/)
})

test('a revert has the reverted entry, as far as it is known', () => {
  const revert = entryOf({ seq: 3, source: 'revert', actor: 'human:bob', reverts: 2 })
  assert.equal(tell(revert), 'Reverted by human:bob, 3 minutes ago.')
  assert.equal(
    tell(revert, context(true, [COMPUTED])),
    'Reverted by human:bob, 3 minutes ago, undoing what was computed for agent:pricing 3 minutes ago.',
  )
  assert.equal(
    tell({ ...revert, reverts: 1 }, context(false, [WRITTEN])),
    'Reverted by human:bob, 3 minutes ago, undoing what was written by human:ann 3 minutes ago.',
  )
})

test('a restored record has the actor who deleted it', () => {
  const deleted = entryOf({ seq: 2, source: 'delete', value: null })
  const restored = entryOf({ seq: 3, source: 'revert', actor: 'human:bob', reverts: 2 })
  assert.equal(
    tell(restored, context(true, [deleted])),
    'Restored with its record by human:bob, 3 minutes ago, undoing what was deleted by human:ann 3 minutes ago.',
  )
})

test('a revert that restores a computed value is not attributed to the derivation', () => {
  const revert = entryOf({ seq: 3, source: 'revert', derivation: 'rate.yaml', input_hash: 'sha256:ab' })
  assert.equal(tell(revert, context(true)), 'Reverted by human:ann, 3 minutes ago.')
})

test('an erasure has its actor, and an entry whose value was erased says so', () => {
  const erasure = entryOf({ seq: 4, source: 'erase', value: null })
  assert.equal(tell(erasure), 'Erased for good by human:ann, 3 minutes ago.')
  const erased = { ...COMPUTED, value: null, erased: 'hash', erased_fields: [COMPUTED.field] }
  assert.match(tell(erased), / — the value was erased later\.$/)
  const written = { ...WRITTEN, value: null, erased: 'hash', erased_fields: [WRITTEN.field] }
  assert.equal(tell(written), 'Written by human:ann, 3 minutes ago — the value was erased later.')
})
