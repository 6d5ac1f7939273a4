import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutdatedCells, WorkItem, WorkQuery } from '../../store/cell-work.ts'
import { testDerivations, TestKind } from '../testing/test-run.ts'
import { checkSources } from './check-sources.ts'
import { INPUT_LIMIT } from './planner.ts'

test('a check of sources reads no inputs beyond the limit of a computation, and makes their fresh cells stale', async () => {
  const derivations = testDerivations(new TestKind(), [{ file: 'b', targets: ['b'], inputs: ['x'] }])
  const cell = { target: 'b', state: 'fresh', blocked: false, inputHash: 'sha256:1', version: '1' } as const
  const item: WorkItem = {
    key: 1,
    id: 'long',
    inputs: { x: true },
    tooLong: { text: INPUT_LIMIT.text + 1, json: 0 },
    pending: {},
    cells: [cell],
  }
  const queries: WorkQuery[] = []
  const marked: OutdatedCells[] = []
  const store = {
    uncheckedTargets: () => Promise.resolve([{ field: 'b', sources: null }]),
    work(query: WorkQuery) {
      queries.push(query)
      return Promise.resolve(query.after === null ? [item] : [])
    },
    markOutdated(cells: OutdatedCells) {
      marked.push(cells)
      return Promise.resolve()
    },
  }
  await checkSources(store, derivations, new AbortController().signal)
  assert.deepEqual(
    queries.map(({ inputLimit }) => inputLimit),
    [INPUT_LIMIT, INPUT_LIMIT],
  )
  assert.deepEqual(
    marked.map(({ cells }) => cells),
    [[{ id: 'long', targets: ['b'], skipped: [] }], []],
  )
})
