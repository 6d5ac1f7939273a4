import { LEASE_MS } from '../../run-tasks.ts'
import { runNumber, WAIT_GRACE_MS } from '../../rows/stored-rows.ts'
import type { RunId } from '../../stored-run.ts'
import type { Connection } from '../database/connection.ts'
import { timeText } from '../database/database-clock.ts'

/**
 * Runs that wait for the run lock, and conditions for orphaned runs. All times are the database's, so that servers whose
 * clocks differ agree. Conditions are about a row of `"$run" AS run`.
 */

/**
 * The age at which an orphaned run is interrupted instead of taken over: calls cost money, and by then nobody expects them.
 */
const EXPECTED = `interval '10 minutes'`

const LEASE = `interval '${LEASE_MS} milliseconds'`

/**
 * A run that has begun, and that another process can continue. Reverts and runs that keep values do not store `beat_at`.
 */
const BEGUN = `(waits_until IS NULL AND beat_at IS NOT NULL AND beat_at > now() - ${EXPECTED} AND NOT stopping)`

/**
 * A run that waits, and is not too old: it also waits for all runs before it, however long these take. An import waits for none,
 * and only its process has the file.
 */
const WAITING = `(kind <> 'import' AND waits_until IS NOT NULL AND NOT stopping AND (waits_until > ${timeText(`- ${EXPECTED}`)} OR EXISTS (
  SELECT FROM "$run" AS earlier WHERE earlier.id < run.id AND earlier.beat_at > now() - ${EXPECTED})))`

/** A run whose process has not renewed its wait in time. */
const SILENT = `(waits_until < ${timeText(`- interval '${WAIT_GRACE_MS} milliseconds'`)})`

/** A run that another process takes over once its own is gone. */
const CAN_CONTINUE = `(${BEGUN} OR ${WAITING})`

/** A run that is stored as running, has no process, and is not taken over. */
export const IS_LOST = `(state = 'running' AND (waits_until IS NULL OR ${SILENT}) AND NOT ${CAN_CONTINUE})`

/** Renews the wait of a run for the run lock; the process may be silent for so many milliseconds. */
export async function keepWaiting(db: Connection, id: RunId, silentMs: number): Promise<void> {
  await db.run(
    `UPDATE "$run" SET waits_until = ${timeText('+ make_interval(secs => $2)')} WHERE id = $1 AND waits_until IS NOT NULL`,
    runNumber(id),
    silentMs / 1000,
  )
}

/** See `RunTasks.leaveWaiting`. */
export async function leaveWaiting(db: Connection, id: RunId): Promise<void> {
  // Expired at once, despite the rounding of its time to milliseconds.
  await keepWaiting(db, id, -(WAIT_GRACE_MS + 1))
}

/** See `RunTasks.claim`. */
export async function claimRun(
  db: Connection,
  id: RunId,
  { orphaned }: { orphaned: boolean },
): Promise<boolean> {
  const claimed = await db.run(
    `UPDATE "$run" AS run SET waits_until = NULL,
       beat_at = CASE WHEN kind = 'materialize' AND (request::json -> 'keepFresh') IS NULL THEN now() END
     WHERE id = $1 AND state = 'running' AND (waits_until IS NULL OR NOT $2 OR ${SILENT})`,
    runNumber(id),
    orphaned,
  )
  return claimed > 0
}

/** Whether a run waits and has not ended; nobody else can begin or end it before the transaction ends. */
export async function stillWaits(db: Connection, id: RunId): Promise<boolean> {
  const sql = `SELECT FROM "$run" WHERE id = $1 AND state = 'running' AND waits_until IS NOT NULL FOR UPDATE`
  return (await db.get(sql, runNumber(id))) !== undefined
}

/** See `RunTasks.orphan`. */
export async function findOrphan(
  db: Connection,
  { hasLock, before }: { readonly hasLock: boolean; readonly before: RunId | null },
): Promise<{ readonly id: RunId; readonly waits: boolean } | null> {
  const row = await db.get(
    `SELECT id, waits_until IS NOT NULL AS waits FROM "$run" AS run
     WHERE state = 'running' AND (
       (${BEGUN} AND ($1 OR beat_at <= now() - ${LEASE}))
       OR (${WAITING} AND ${SILENT} AND ($2::bigint IS NULL OR id < $2::bigint)))
     ORDER BY waits, id LIMIT 1`,
    hasLock,
    before === null ? null : runNumber(before),
  )
  return row === undefined ? null : { id: String(row['id']), waits: row['waits'] === true }
}

/** Whether there is a heartbeat of a process that may have the run lock, or a run without heartbeats. */
export async function hasLiveRun(db: Connection): Promise<boolean> {
  const row = await db.get(
    `SELECT FROM "$run" WHERE state = 'running' AND waits_until IS NULL AND (beat_at IS NULL OR beat_at > now() - ${LEASE}) LIMIT 1`,
  )
  return row !== undefined
}
