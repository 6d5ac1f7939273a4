import type { CellCommit } from '../../cell-work.ts'
import type { FailedCell, NewRun, RunEnd, RunId } from '../../stored-run.ts'
import { failureRows } from '../../rows/run-failures.ts'
import {
  requestText,
  runBegun,
  runEnded,
  runGained,
  updateRun,
  type RunGain,
  type RunUpdate,
} from '../../rows/run-updates.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { later, runNumber, WAIT_GRACE_MS } from '../../rows/stored-rows.ts'

/** Failures that one statement inserts. */
const FAILURES_AT_ONCE = 100

/** A run, and a note to store about it. */
export interface RunNote<T> {
  readonly id: RunId
  readonly note: T
}

/** A `RunBegin` for the writing thread. */
export interface RunBeginText {
  readonly total: number
  readonly manual: number
  /** JSON texts of pieces of `absent`: text is several times as fast to send as many small objects. */
  readonly absent: readonly string[]
}

/** Stores a new run, and returns its id; ids ascend and are never reused. */
export function startRun(change: ChangeSet, run: NewRun): RunId {
  const { kind, reverts, actor, recordIds } = run
  const row = change.db.get('UPDATE "$sheet" SET last_run = last_run + 1 RETURNING last_run')
  const id = Number(row?.['last_run'])
  change.db.run(
    `INSERT INTO "$run" (id, kind, reverts, state, actor, request, record_ids, started_at, waits_until, active_at)
     VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, ?7, ?8, ?7)`,
    id,
    kind,
    reverts === null ? null : runNumber(reverts),
    actor,
    requestText(run),
    recordIds === null ? null : JSON.stringify(recordIds),
    change.at,
    later(change.now, run.silentMs),
  )
  return String(id)
}

/** Renews the wait of a run for the run lock; the process may be silent for so many milliseconds. */
export function keepWaiting(change: ChangeSet, { id, note: silentMs }: RunNote<number>): void {
  change.db.run(
    'UPDATE "$run" SET waits_until = ? WHERE id = ? AND waits_until IS NOT NULL',
    later(change.now, silentMs),
    runNumber(id),
  )
}

/** Stores that a run has the run lock. */
export function beginRun(change: ChangeSet, { id, note }: RunNote<RunBeginText>): void {
  const absent = note.absent.flatMap((text) => JSON.parse(text) as FailedCell[])
  update(change, id, runBegun({ ...note, absent }, change.at))
  addFailures(change, id, absent)
}

/** Stores the progress of a run that has no results to store yet. */
export function noteCalls(change: ChangeSet, { id, note }: RunNote<CellCommit['progress']>): void {
  addGain(change, id, { materialized: 0, failures: [], overwritten: 0, progress: note })
}

/** Adds a commit to the counts of its run. */
export function addGain(change: ChangeSet, id: RunId, gain: RunGain): void {
  update(change, id, runGained(gain, change.at))
  addFailures(change, id, gain.failures)
}

/** Stores the end of a run, with its last counts. */
export function endRun(change: ChangeSet, { id, note }: RunNote<RunEnd>): void {
  update(change, id, runEnded(note, change.at))
}

/** Marks runs as interrupted that are stored as running and cannot be; see {@link SheetStore.interruptRuns}. */
export function interruptRuns(change: ChangeSet, except: RunId | null): void {
  change.db.run(
    `UPDATE "$run" SET state = 'interrupted', ended_at = active_at
     WHERE state = 'running' AND id IS NOT ? AND (waits_until IS NULL OR waits_until < ?)`,
    except === null ? null : runNumber(except),
    later(change.now, -WAIT_GRACE_MS),
  )
}

/** Throws an Error when there is no such run, which is a bug. */
function update({ db }: ChangeSet, id: RunId, changed: RunUpdate): void {
  if (db.change(updateRun(id, changed)) === 0) throw new Error(`no run ${id}`)
}

function addFailures(change: ChangeSet, id: RunId, failures: readonly FailedCell[]): void {
  if (failures.length === 0) return
  const run = runNumber(id)
  const last = change.db.get('SELECT max(number) AS number FROM "$run_failure" WHERE run = ?', run)
  const { rows, bodies } = failureRows(failures, Number(last?.['number'] ?? 0))
  for (const { hash, body } of bodies) {
    change.db.run('INSERT OR IGNORE INTO "$run_body" (run, hash, body) VALUES (?, ?, ?)', run, hash, body)
  }
  for (let start = 0; start < rows.length; start += FAILURES_AT_ONCE) {
    const some = rows.slice(start, start + FAILURES_AT_ONCE)
    change.db.run(
      `INSERT INTO "$run_failure" (run, number, record_id, field, error, detail, error_type, reason, body, alike, at)
       VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      ...some.flatMap(({ number, recordId, fields, error, detail, errorType, reason, body, alike }) => [
        run,
        number,
        recordId,
        fields,
        error,
        detail ?? null,
        errorType,
        reason,
        body,
        alike,
        change.at,
      ]),
    )
  }
}
