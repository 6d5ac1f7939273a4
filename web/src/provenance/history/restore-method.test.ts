import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restoreMethodOf, undoableEntries, undoOfLatest, type CellHistory } from './restore-method.ts'
import { computedEntry, entryOf } from './test-entries.ts'

const ORDINARY: CellHistory['field'] = {
  title: 'Rate',
  primaryKey: false,
  required: false,
  derived: null,
  editableBy: null,
}
const DERIVED = { ...ORDINARY, derived: { derivation: 'rate.yaml', kind: 'http', inputs: [] } }

const FIRST = entryOf({ seq: 1, value: 1 })
const SECOND = entryOf({ seq: 2, value: 2, previous: 1 })
const THIRD = entryOf({ seq: 3, value: 3, previous: 2 })
const HISTORY = [THIRD, SECOND, FIRST]

function past(change: Partial<CellHistory> = {}): CellHistory {
  return { field: ORDINARY, history: HISTORY, value: 3, actor: 'human:ann', mayWrite: true, ...change }
}

test('the value before the latest entry is restored by a revert, an older one by a write', () => {
  assert.deepEqual(restoreMethodOf(SECOND, past()), { by: 'undo', seq: 3, leaves: 'overridden' })
  assert.deepEqual(restoreMethodOf(FIRST, past()), { by: 'write' })
})

test('the present value needs no action, and neither do deletions and ids', () => {
  const nothing = { by: 'nothing', why: null }
  assert.deepEqual(restoreMethodOf(THIRD, past()), nothing)
  assert.deepEqual(restoreMethodOf(FIRST, past({ value: 1 })), nothing)
  assert.deepEqual(restoreMethodOf(entryOf({ seq: 2, source: 'delete', value: null }), past()), nothing)
  assert.deepEqual(restoreMethodOf(FIRST, past({ field: { ...ORDINARY, primaryKey: true } })), nothing)
})

test('nothing can be restored in a deleted record', () => {
  assert.deepEqual(restoreMethodOf(FIRST, past({ value: undefined })), { by: 'nothing', why: null })
})

test('an actor without permission to write a field can only revert computed values', () => {
  const computed = computedEntry({ seq: 4, value: 4, previous: 3 })
  const history = [computed, ...HISTORY]
  const who = { field: { ...DERIVED, editableBy: ['human:*'] }, value: 4, mayWrite: false, actor: 'agent:x' }
  assert.deepEqual(restoreMethodOf(THIRD, past({ ...who, history })), {
    by: 'undo',
    seq: 4,
    leaves: 'overridden',
  })
  const refused = restoreMethodOf(FIRST, past({ ...who, history }))
  assert.match(
    refused.by === 'nothing' ? String(refused.why) : '',
    /^Only human:\* may edit Rate; you are agent:x\.$/,
  )
  assert.equal(restoreMethodOf(SECOND, past({ ...who, value: 3 })).by, 'nothing')
})

test('a field that cannot be written says so', () => {
  const computed = [
    computedEntry({ seq: 3, value: 3, previous: 2 }),
    computedEntry({ seq: 2, value: 2, previous: 1 }),
    computedEntry({ seq: 1 }),
  ]
  const [, , oldest] = computed
  assert.ok(oldest)
  const found = restoreMethodOf(oldest, past({ field: DERIVED, history: computed, mayWrite: false }))
  assert.match(
    found.by === 'nothing' ? String(found.why) : '',
    /is computed and not editable: only the latest/,
  )
})

test('after a revert, that revert and the value before it can be restored', () => {
  const revert = entryOf({ seq: 4, source: 'revert', reverts: 3, value: 2, previous: 3 })
  const history = [revert, ...HISTORY]
  assert.deepEqual(undoableEntries(history), [revert, SECOND])
  const now = past({ history, value: 2 })
  assert.deepEqual(restoreMethodOf(THIRD, now), { by: 'undo', seq: 4, leaves: 'overridden' })
  assert.deepEqual(restoreMethodOf(FIRST, now), { by: 'undo', seq: 2, leaves: 'overridden' })
})

test('reverting a revert of a computed value needs no permission', () => {
  const history = [
    entryOf({ seq: 3, source: 'revert', reverts: 2, value: null, previous: 2 }),
    computedEntry({ seq: 2, value: 2 }),
  ]
  const [, computed] = history
  assert.ok(computed)
  const found = restoreMethodOf(computed, past({ field: DERIVED, history, value: null, mayWrite: false }))
  assert.deepEqual(found, { by: 'undo', seq: 3, leaves: 'computed' })
})

test('the latest entry can be reverted if no other entry has the value before it', () => {
  const only = past({ history: [entryOf({ seq: 1, value: 1 })], value: 1 })
  assert.deepEqual(undoOfLatest(only), { by: 'undo', seq: 1, leaves: 'missing' })
  assert.equal(undoOfLatest({ ...only, field: { ...ORDINARY, required: true } }), null)
  assert.equal(undoOfLatest(past()), null)
  assert.equal(undoOfLatest(past({ history: [] })), null)
  assert.equal(undoOfLatest({ ...only, value: undefined }), null)
})

test('an empty value is not written to a derived field, since that would compute it', () => {
  const history = [
    entryOf({ seq: 3, value: 3, previous: 2 }),
    entryOf({ seq: 2, value: 2 }),
    entryOf({ seq: 1, value: null }),
  ]
  const [, , empty] = history
  assert.ok(empty)
  assert.deepEqual(restoreMethodOf(empty, past({ field: DERIVED, history })), { by: 'nothing', why: null })
  assert.deepEqual(restoreMethodOf(empty, past({ history })), { by: 'write' })
})

test('D32: after a revert, a derived cell has the state of the entry before', () => {
  const restored = entryOf({
    seq: 4,
    source: 'revert',
    reverts: 3,
    value: 1,
    previous: 2,
    input_hash: 'sha256:ab',
  })
  const computed = computedEntry({ seq: 1, value: 1 })
  const leaves = (...history: readonly ReturnType<typeof entryOf>[]): unknown => {
    const [latest] = history
    const found = undoOfLatest(past({ field: DERIVED, history, value: latest?.value, mayWrite: true }))
    return found?.by === 'undo' ? found.leaves : null
  }
  assert.equal(leaves(computed), 'missing')
  assert.equal(leaves(entryOf({ seq: 2, value: 2, previous: null })), 'missing')
  const earlier = entryOf({ seq: 1, value: 5, source: 'delete', previous: 1, input_hash: 'sha256:ab' })
  assert.equal(leaves(entryOf({ seq: 2, value: 2, previous: null }), earlier), 'missing', 'of another life')
  const byHand = entryOf({ seq: 2, value: 2, previous: 1 })
  const now = (history: readonly ReturnType<typeof entryOf>[], wanted: (typeof history)[number]): unknown => {
    const found = restoreMethodOf(
      wanted,
      past({ field: DERIVED, history, value: history[0]?.value, mayWrite: true }),
    )
    return found.by === 'undo' ? found.leaves : null
  }
  assert.equal(now([byHand, computed], computed), 'computed')
  assert.equal(
    now([computedEntry({ seq: 2, value: 2, previous: 1 }), entryOf({ seq: 1 })], entryOf({ seq: 1 })),
    'overridden',
  )
  assert.equal(now([entryOf({ seq: 5, value: 3, previous: 1 }), restored], restored), 'computed')
})

test('an erased value cannot be restored, nor an erasure', () => {
  const erased = { ...SECOND, value: null, erased: 'hash', erased_fields: [SECOND.field] }
  const erasure = entryOf({ seq: 4, source: 'erase', value: null, previous: null })
  const now = past({ history: [erasure, THIRD, erased, FIRST], value: 7 })
  for (const entry of [erased, erasure])
    assert.deepEqual(restoreMethodOf(entry, now), { by: 'nothing', why: null })
})
