import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { seededRandom } from '../../store/suite/support/random.ts'
import { mergeRecords, UnmergeableRecords, type RecordConflict } from './merge-records.ts'

function merged(
  base: readonly JsonObject[],
  ours: readonly JsonObject[],
  theirs: readonly JsonObject[],
): { readonly records: JsonObject[]; readonly conflicts: RecordConflict[] } {
  const conflicts: RecordConflict[] = []
  const lines = (records: readonly JsonObject[]): string[] => records.map((record) => JSON.stringify(record))
  const texts = mergeRecords({ base: lines(base), ours: lines(ours), theirs: lines(theirs) }, (conflict) =>
    conflicts.push(conflict),
  )
  return { records: [...texts].map((text) => JSON.parse(text) as JsonObject), conflicts }
}

test('a cell that one version has changed has its value, of two values ours stays', () => {
  const { records, conflicts } = merged(
    [
      { id: 'a', x: 1, y: 1, z: 1 },
      { id: 'b', x: 1 },
    ],
    [
      { id: 'a', x: 2, y: 1, z: 2 },
      { id: 'b', x: 1 },
    ],
    [
      { id: 'b', x: 3 },
      { id: 'a', x: 1, y: 2, z: 3 },
    ],
  )
  assert.deepEqual(records, [
    { id: 'a', x: 2, y: 2, z: 2 },
    { id: 'b', x: 3 },
  ])
  assert.deepEqual(conflicts, [{ id: 'a', kind: 'value', field: 'z', ours: 2, theirs: 3 }])
})

test('a record that one version has deleted and the other changed is kept as it was changed', () => {
  const base = ['a', 'b', 'c', 'd'].map((id) => ({ id, x: 1 }))
  const { records, conflicts } = merged(
    base,
    [
      { id: 'a', x: 2 },
      { id: 'd', x: 1 },
    ],
    [
      { id: 'b', x: 2 },
      { id: 'c', x: 1 },
    ],
  )
  assert.deepEqual(records, [
    { id: 'a', x: 2 },
    { id: 'b', x: 2 },
  ])
  assert.deepEqual(
    conflicts.map(({ id, kind }) => [id, kind]),
    [
      ['a', 'deleted-by-theirs'],
      ['b', 'deleted-by-ours'],
    ],
  )
})

test('records that both have created are merged by field', () => {
  const { records, conflicts } = merged([], [{ id: 'n', x: 1, y: null }], [{ id: 'n', x: 2, y: 3 }])
  assert.deepEqual(records, [{ id: 'n', x: 1, y: 3 }])
  assert.equal(conflicts.length, 1)
})

test('fields that only one version has are those that it has added, or the other removed', () => {
  const { records, conflicts } = merged(
    [{ id: 'a', old: 1, x: 1 }],
    [{ id: 'a', x: 1, added: null }],
    [{ id: 'a', old: 1, x: 2, other: 5 }],
  )
  assert.deepEqual(records, [{ id: 'a', x: 2, added: null, other: 5 }])
  assert.deepEqual(conflicts, [])
})

test('a file that is not records with ids is refused', () => {
  for (const lines of [['[]'], ['{"x":1}'], ['<<<<<<< HEAD'], ['{"id":"a"}', '{"id":"a"}']]) {
    assert.throws(
      () => [...mergeRecords({ base: [], ours: [], theirs: lines }, () => undefined)],
      UnmergeableRecords,
    )
  }
})

test('random merges are those of a merge cell by cell', () => {
  const random = seededRandom(26).below
  for (let round = 0; round < 3000; round += 1) {
    const base = someRecords(random)
    const [ours, theirs] = [changed(base, random), changed(base, random)]
    const { records, conflicts } = merged(base, ours, theirs)
    const other = merged(base, theirs, ours)
    const hint = JSON.stringify({ base, ours, theirs })
    assert.deepEqual(states(records), oracle(base, ours, theirs), hint)
    // Symmetric but for the cells in conflict, which have the value of the first version.
    const swapped = states(other.records)
    for (const { id, field, ours: own } of conflicts) if (field !== null) (swapped[id] as Cells)[field] = own
    assert.deepEqual(states(records), swapped, hint)
    assert.deepEqual(merged(base, ours, ours).records, ours, hint)
    assert.deepEqual(merged(base, base, theirs).records.toSorted(byId), theirs.toSorted(byId), hint)
    for (const { id, field, ours: own, theirs: loser } of conflicts) {
      if (field === null) continue
      assert.deepEqual(states(ours)[id]?.[field] ?? null, own, hint)
      assert.deepEqual(states(theirs)[id]?.[field] ?? null, loser, hint)
    }
  }
})

type Cells = Record<string, JsonValue>

function byId(a: JsonObject, b: JsonObject): number {
  return String(a['id']).localeCompare(String(b['id']))
}

function states(records: readonly JsonObject[]): Record<string, Cells> {
  return Object.fromEntries(records.map((record) => [String(record['id']), { ...record }]))
}

/** The merge as a table of cells: a record exists where any cell of it, or its existence, says so. */
function oracle(...versions: readonly (readonly JsonObject[])[]): Record<string, Cells> {
  const [base = {}, ours = {}, theirs = {}] = versions.map(states)
  const found: Record<string, Cells> = {}
  for (const id of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const [b, o, t] = [base[id], ours[id], theirs[id]]
    const same = (one: Cells | undefined, two: Cells | undefined): boolean =>
      JSON.stringify(one) === JSON.stringify(two)
    if (o === undefined || t === undefined) {
      const left = o ?? t
      if (left !== undefined && !same(left, b)) found[id] = left
      continue
    }
    const cells: Cells = {}
    for (const field of Object.keys(o)) {
      const [was, own, other] = [b?.[field] ?? null, o[field] ?? null, t[field] ?? null]
      cells[field] = own === was ? other : own
    }
    found[id] = cells
  }
  return found
}

function someRecords(random: (below: number) => number): JsonObject[] {
  return ['a', 'b', 'c', 'd'].filter(() => random(4) > 0).map((id) => ({ id, x: random(3), y: null, z: 'z' }))
}

function changed(records: readonly JsonObject[], random: (below: number) => number): JsonObject[] {
  const kept = records.filter(() => random(6) > 0)
  const ids = new Set(records.map(({ id }) => id))
  const created = ['a', 'b', 'c', 'd', 'e', 'f'].filter((id) => !ids.has(id) && random(3) === 0)
  const all: JsonObject[] = [...kept, ...created.map((id) => ({ id, x: null, y: null, z: null }))]
  return all.map((record) => ({
    ...record,
    ...(random(3) === 0 ? { x: random(3) } : {}),
    ...(random(4) === 0 ? { y: random(2) } : {}),
    ...(random(6) === 0 ? { z: null } : {}),
  }))
}
