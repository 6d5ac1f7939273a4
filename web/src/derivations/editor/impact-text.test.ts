import assert from 'node:assert/strict'
import { test } from 'node:test'
import { impactText } from './impact-text.ts'

type Target = Parameters<typeof impactText>[0]['targets'][number]
type Counts = NonNullable<Target['after']>

const NONE: Counts = { fresh: 0, stale: 0, missing: 0, failed: 0, overridden: 0, blocked: 0 }

function target(field: string, before: Partial<Counts> | null, after: Partial<Counts> | null): Target {
  const counts = (given: Partial<Counts> | null): Counts | null => given && { ...NONE, ...given }
  const change = before === null ? 'added' : after === null ? 'removed' : 'changed'
  return { field, file: 'a.yaml', change, before: counts(before), after: counts(after) }
}

const impact = (targets: readonly Target[], derivations: Parameters<typeof impactText>[1] = []) =>
  impactText({ targets: [...targets], records: 10 }, derivations)

test('the cells of all fields that change are added, by the state that they get', () => {
  assert.deepEqual(
    impact([
      target('name_de', { fresh: 740, missing: 1, overridden: 1 }, { stale: 740, missing: 1, overridden: 1 }),
      target('name_fr', { fresh: 10, failed: 1 }, { stale: 9, failed: 2 }),
    ]),
    ['749 cells become stale.', '1 cell becomes failed.', '1 manual value is kept.'],
  )
})

test('fields that become derived, and fields that no longer are', () => {
  assert.deepEqual(
    impact([target('rate', null, { missing: 8, overridden: 2 }), target('note', { fresh: 3 }, null)]),
    [
      '`rate` becomes a derived field: 8 cells are missing.',
      '`note` becomes an ordinary field and keeps its values.',
      '2 manual values are kept.',
    ],
  )
})

test('several fields that are no longer derived are in one sentence', () => {
  assert.deepEqual(impact([target('a', { fresh: 3 }, null), target('b', {}, null), target('c', {}, null)]), [
    '`a`, `b` and `c` become ordinary fields and keep their values.',
  ])
})

test('fields that are computed from those that change follow, over any number of steps', () => {
  const derivations = [
    { inputs: ['zones'], targets: ['offsets'] },
    { inputs: ['area'], targets: ['text'] },
    { inputs: ['offsets', 'id'], targets: ['summary'] },
  ]
  assert.deepEqual(impact([target('zones', { fresh: 1 }, { stale: 1 })], derivations), [
    '1 cell becomes stale.',
    '`offsets` and `summary` follow where recomputing changes a value.',
  ])
})

test('the calls that compute the cells, and their cost, follow', () => {
  const targets = [target('rate', { fresh: 8 }, { stale: 8 })]
  const plan = { targets: { rate: { compute: 8, cached: 0, skipped: 0 } }, calls: 8, cost: 0.02 }
  const text = (recomputing: Parameters<typeof impactText>[0]['recomputing']): readonly string[] =>
    impactText({ targets, records: 10, recomputing }, [])
  assert.deepEqual(text(plan), ['8 cells become stale.', 'Computing rate takes 8 calls: $0.02.'])
  assert.deepEqual(text({ ...plan, calls: 0, cost: 0 }).at(-1), 'Computing rate makes no calls.')
  assert.match(text(null).at(-1) ?? '', /is not known/)
})

test('a change without effect on cells says so', () => {
  assert.deepEqual(impact([target('rate', { missing: 3 }, { missing: 3 })]), ['No cell changes its state.'])
  assert.deepEqual(impactText({ targets: [], records: 0 }, []), ['The sheet has no records.'])
})
