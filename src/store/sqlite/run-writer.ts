import type { SQLInputValue } from 'node:sqlite'
import type { CellCommit, RevertResult } from '../sheet-store.ts'
import type { FailedCell, NewRun, RunBegin, RunEnd, RunId, RunOrder } from '../stored-run.ts'
import type { ChangeSet } from './change-set.ts'
import { runNumber } from './values.ts'

/** How much longer than it said a run may wait for the run lock before it is taken for dead. */
const WAIT_GRACE_MS = 1000

/** What of a run's order is in the column `request`, as JSON. */
export type StoredRequest = Omit<RunOrder, 'kind' | 'reverts' | 'actor'>

/** A run, and what is to be noted of it. */
export interface RunNote<T> {
  readonly id: RunId
  readonly note: T
}

/** What a commit adds to the counts of its run. */
interface RunGain {
  readonly materialized: number
  readonly failures: readonly FailedCell[]
  readonly progress: CellCommit['progress']
}

/** Writes down that a run begins, and answers with its id; ids are given out in order and never twice. */
export function startRun(change: ChangeSet, run: NewRun): RunId {
  const { kind, reverts, actor, targets, recordIds, force, only, limit, maxCalls, maxCost } = run
  const row = change.db.get('UPDATE "$sheet" SET last_run = last_run + 1 RETURNING last_run')
  const id = Number(row?.['last_run'])
  const request: StoredRequest = { targets, recordIds, force, only, limit, maxCalls, maxCost }
  change.db.run(
    `INSERT INTO "$run" (id, kind, reverts, state, actor, request, started_at, waits_until, active_at)
     VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, ?7, ?6)`,
    id,
    kind,
    reverts === null ? null : runNumber(reverts),
    actor,
    JSON.stringify(request),
    change.at,
    later(change.at, run.lockTimeoutMs),
  )
  return String(id)
}

/** Notes that a run has the run lock. It runs, even if it had been given up for having waited too long. */
export function runLocked(change: ChangeSet, { id, note }: RunNote<RunBegin>): null {
  const set = "state = 'running', ended_at = NULL, waits_until = NULL, active_at = ?, total = ?, failed = ?"
  updateRun(change, id, { set, values: [change.at, note.total, note.absent.length] })
  addFailures(change, id, note.absent)
  return null
}

/** Adds what a commit stored to the counts of its run. */
export function runGained(change: ChangeSet, id: RunId, { materialized, failures, progress }: RunGain): void {
  const { skipped, calls, totalCost } = progress
  updateRun(change, id, {
    set: 'materialized = materialized + ?, failed = failed + ?, skipped = ?, calls = ?, total_cost = ?, active_at = ?',
    values: [materialized, failures.length, skipped, calls, totalCost, change.at],
  })
  addFailures(change, id, failures)
}

/** Adds what a piece of a revert came to to the counts of its run. */
export function runReverted(change: ChangeSet, id: RunId, { reverted, conflicts }: RevertResult): void {
  updateRun(change, id, {
    set: 'materialized = materialized + ?, skipped = skipped + ?, active_at = ?',
    values: [reverted, conflicts.length, change.at],
  })
}

/** Notes how a run ended, with its last counts. */
export function endRun(change: ChangeSet, { id, note }: RunNote<RunEnd>): null {
  const { state, error, progress } = note
  const { total, materialized, skipped, failed, calls, totalCost } = progress
  updateRun(change, id, {
    set: `state = ?, error = ?, error_type = ?, ended_at = ?, active_at = ?,
      total = ?, materialized = ?, skipped = ?, failed = ?, calls = ?, total_cost = ?`,
    values: [
      state,
      error?.message ?? null,
      error?.type ?? null,
      change.at,
      change.at,
      total,
      materialized,
      skipped,
      failed,
      calls,
      totalCost,
    ],
  })
  return null
}

/** Notes who wants a run to end. Whoever came first is remembered; a run that has ended cannot be stopped any more. */
export function requestCancel(change: ChangeSet, { id, note: actor }: RunNote<string>): null {
  change.db.run(
    `UPDATE "$run" SET cancelled_by = ? WHERE id = ? AND state = 'running' AND cancelled_by IS NULL`,
    actor,
    runNumber(id),
  )
  return null
}

/** Marks as interrupted what claims to run and cannot; see {@link SheetStore.interruptRuns}. */
export function interruptRuns(change: ChangeSet, except: RunId | null): null {
  change.db.run(
    `UPDATE "$run" SET state = 'interrupted', ended_at = active_at
     WHERE state = 'running' AND id IS NOT ? AND (waits_until IS NULL OR waits_until < ?)`,
    except === null ? null : runNumber(except),
    later(change.at, -WAIT_GRACE_MS),
  )
  return null
}

/** Throws an Error when there is no such run, which only a mistake of the program can bring about. */
function updateRun(
  change: ChangeSet,
  id: RunId,
  { set, values }: { set: string; values: readonly SQLInputValue[] },
): void {
  const updated = change.db.run(`UPDATE "$run" SET ${set} WHERE id = ?`, ...values, runNumber(id))
  if (updated === 0) throw new Error(`no run ${id}`)
}

function addFailures(change: ChangeSet, id: RunId, failures: readonly FailedCell[]): void {
  if (failures.length === 0) return
  const run = runNumber(id)
  const last = change.db.get('SELECT max(number) AS number FROM "$run_failure" WHERE run = ?', run)
  let number = Number(last?.['number'] ?? 0)
  for (const { recordId, field, error, errorType } of failures) {
    number += 1
    change.db.run(
      'INSERT INTO "$run_failure" (run, number, record_id, field, error, error_type, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      run,
      number,
      recordId,
      field,
      error,
      errorType,
      change.at,
    )
  }
}

/** A time so many milliseconds after another. */
function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString()
}
