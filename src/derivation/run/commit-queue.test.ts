import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CellCommit } from '../../store/cell-work.ts'
import type { RecordedCall } from '../recording/recorded-call.ts'
import { NO_CALL } from './call-behind.ts'
import { CommitQueue } from './commit-queue.ts'
import { Tally } from './tally.ts'

const OBSERVER = { onBegun: () => undefined, onCells: () => undefined, onProgress: () => undefined }

/** Commits no call, one and two, and returns the lines of each commit and how often the limit was read. */
async function linesBy(limit: number): Promise<{ lines: readonly number[]; reads: number }> {
  const commits: CellCommit[] = []
  let reads = 0
  const store = {
    commitCells: async (commit: CellCommit) => {
      commits.push(commit)
      return []
    },
    responses: {
      limit: async () => {
        reads += 1
        return limit
      },
    },
  }
  const tally = new Tally({ total: 0, manual: 0, failed: 0 }, OBSERVER)
  const queue = new CommitQueue({ store, run: '1', actor: 'system', tally })
  const call: RecordedCall = {
    origin: { derivation: 'a.yaml', recordId: '1' },
    request: { method: 'GET', url: 'https://h/', headers: {}, body: null },
    tries: [],
    answer: { status: 200, durationMs: 1, body: '{}' },
  }
  await queue.add({ results: [], ...NO_CALL })
  await queue.add({ results: [], ...NO_CALL, recorded: [call] })
  await queue.add({ results: [], ...NO_CALL, recorded: [call, call] })
  return { lines: commits.map(({ recorded = [] }) => recorded.length), reads }
}

test('calls are recorded unless the store keeps none, which is read once in a run', async () => {
  assert.deepEqual(await linesBy(1), { lines: [0, 1, 2], reads: 1 })
  assert.deepEqual(await linesBy(0), { lines: [0, 0, 0], reads: 1 })
})

/** Stores a result alone; returns whether the event loop went on before that began. */
async function waitsForOthers(isAwaited: boolean): Promise<boolean> {
  let wentOn = false
  let waited: boolean | null = null
  const store = {
    commitCells: async () => {
      waited = wentOn
      return []
    },
    responses: { limit: async () => 0 },
  }
  const tally = new Tally({ total: 0, manual: 0, failed: 0 }, OBSERVER)
  const queue = new CommitQueue({ store, run: '1', actor: 'system', tally })
  setImmediate(() => (wentOn = true))
  await queue.add({ results: [], ...NO_CALL, isAwaited })
  assert.ok(waited !== null)
  return waited
}

test('a result waits for others to share its commit, unless calls wait until it is stored', async () => {
  assert.equal(await waitsForOthers(false), true)
  assert.equal(await waitsForOthers(true), false)
})
