import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CellCommit, CellResult } from '../../cell-work.ts'
import { commitText, readCommit } from './commit-text.ts'

const COMMON = {
  actor: 'agent:é\n',
  run: '7',
  progress: { skipped: 1, left: 0, calls: 2, totalCost: 0.5, unpricedCalls: 1 },
  used: ['sha256:3'],
  usage: [{ key: 'k', amounts: { input: 3 } }],
  recorded: [],
}

function cell(key: number, target: string, result: CellResult['result']): CellResult {
  return { key, target, version: `${key}.0`, sha256: target.repeat(3), sources: null, result }
}

type Read = Required<Pick<CellCommit, 'cells' | 'cache' | 'responses'>>

function read(commit: Pick<CellCommit, 'cells' | 'cache' | 'responses'>): Read {
  const {
    cells,
    cache,
    responses = [],
    ...common
  } = readCommit(commitText({ ...COMMON, ...commit, made: [] }))
  assert.deepEqual(common, COMMON)
  return {
    cells: cells.map(({ result, ...of }) =>
      result.kind === 'computed'
        ? { ...of, result: { ...result, provenance: JSON.parse(result.provenance) } }
        : { ...of, result },
    ),
    cache: cache.map(({ inputHash, text }) => ({ inputHash, ...JSON.parse(text) })),
    responses,
  }
}

test('a commit is read from its text as it was written, whatever its texts contain', () => {
  const cells = [
    cell(1, 'a', { kind: 'unchanged' }),
    cell(2, 'b', {
      kind: 'computed',
      value: { lines: 'one\ntwo\r\u2028', list: [null, '"'] },
      inputHash: 'sha256:1',
      provenance: { cached: false, url: 'http://h/\n', nested: { provenance: {} } },
    }),
    cell(3, 'a', { kind: 'failed', error: 'first\nsecond', errorType: 'OperationError', reason: 'status' }),
    cell(4, 'a', { kind: 'computed', value: null, inputHash: 'sha256:2', provenance: {} }),
  ]
  const cache = [
    { inputHash: 'sha256:1', values: { b: 'x\ny' }, provenance: { status: 200 } },
    { inputHash: 'sha256:2', values: {}, provenance: {} },
  ]
  const responses = [
    { request: 'sha256:4', status: 200, durationMs: 3, body: '{\n "a": "é\u2028😀"}\r\n' },
    { request: 'sha256:5', status: 201, durationMs: 0, body: '1' },
  ]
  assert.deepEqual(read({ cells, cache, responses }), { cells, cache, responses })
})

test('an empty commit is read from its text as empty', () => {
  assert.deepEqual(read({ cells: [], cache: [] }), { cells: [], cache: [], responses: [] })
})

test('cells of one target with two definitions keep their own', () => {
  const one = cell(1, 'a', { kind: 'unchanged' })
  const cells = [one, { ...one, key: 2, sha256: 'other' }, { ...one, key: 3 }]
  assert.deepEqual(read({ cells, cache: [] }).cells, cells)
})
