import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FailureStreak } from '../../../derivation/failure-streak.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import type { CellCommit } from '../../../store/cell-work.ts'
import type { RunTasks, StreakNote, TakenTask } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import { NO_PROGRESS } from '../../active-run.ts'
import { TaskStore } from './task-store.ts'

const TASK = { run: '1', job: 'job', attempt: 0 } as TakenTask

const COMMIT: CellCommit = {
  actor: 'agent:a',
  run: '1',
  progress: { skipped: 0, left: 0, calls: 0, totalCost: 0, unpricedCalls: 0 },
  cells: [],
  cache: [],
}

const FAILURE = { reason: 'status', request: 'GET https://h/a', status: 500 } as const

test('with what it stores a task tells of failures in a row, and stops where those of all processes are too many', async (t) => {
  const streak = new FailureStreak(5)
  const told: (readonly StreakNote[])[] = []
  let isAway = true
  const noteStreaks: RunTasks['noteStreaks'] = async (_run, notes) => {
    if (isAway) throw new RecordsError('the database is away')
    told.push(notes)
    return new Map([['h', 5]])
  }
  const tasks = { commitCells: async () => [], noteStreaks } as unknown as RunTasks
  const store = new TaskStore({ store: {} as SheetStore, tasks, task: TASK, streak })
  t.after(() => store.stop())
  await store.commitCells(COMMIT)
  streak.note('h', FAILURE)
  await store.commitCells(COMMIT)
  assert.deepEqual([told, streak.stopped], [[], null])
  isAway = false
  streak.note('h', FAILURE)
  await store.commitCells(COMMIT)
  assert.deepEqual(told, [[{ host: 'h', failures: 2, succeeded: false }]])
  assert.match(streak.stopped?.message ?? '', /^5 calls in a row failed at h/)
})

const CALLS = { ...NO_PROGRESS, calls: 2, totalCost: 0.5 }

test('counts whose note fails are stored with the next', async (t) => {
  const noted: number[] = []
  const noteCalls: RunTasks['noteCalls'] = async (_task, { calls }) => {
    noted.push(calls)
    if (noted.length === 1) throw new RecordsError('the database is away')
  }
  const tasks = { noteCalls } as unknown as RunTasks
  const store = new TaskStore({ store: {} as SheetStore, tasks, task: TASK, streak: new FailureStreak(5) })
  t.after(() => store.stop())
  store.onProgress(CALLS)
  await assert.rejects(store.note(), RecordsError)
  await store.note()
  await store.note()
  assert.deepEqual(noted, [2, 2])
})

test('a note resolves when the notes before it are stored', async (t) => {
  const stored = Promise.withResolvers<void>()
  let isStored = false
  const noteCalls: RunTasks['noteCalls'] = async () => {
    await stored.promise
    isStored = true
  }
  const tasks = { noteCalls } as unknown as RunTasks
  const store = new TaskStore({ store: {} as SheetStore, tasks, task: TASK, streak: new FailureStreak(5) })
  t.after(() => store.stop())
  store.onProgress(CALLS)
  void store.note()
  const last = store.note()
  setImmediate(() => stored.resolve())
  await last
  assert.ok(isStored)
})
