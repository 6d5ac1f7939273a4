import type { StreakNote } from '../../run-tasks.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import type { RunId } from '../../stored-run.ts'
import type { Connection } from '../database/connection.ts'

/**
 * Adds the outcomes of a process' calls to the consecutive failures of a run; returns the totals of the hosts at which
 * calls failed.
 */
export async function addToStreaks(
  db: Connection,
  run: RunId,
  notes: readonly StreakNote[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { host, failures, succeeded } of notes) {
    if (failures > 0) counts.set(host, await addFailures(db, run, { host, failures, succeeded }))
    else if (succeeded) await endStreak(db, run, host)
  }
  return counts
}

async function addFailures(
  db: Connection,
  run: RunId,
  { host, failures, succeeded }: StreakNote,
): Promise<number> {
  const row = await db.get(
    `INSERT INTO "$streak" AS streak (run, host, failures) VALUES ($1, $2, $3)
     ON CONFLICT (run, host) DO UPDATE SET failures = $3 + CASE WHEN $4 THEN 0 ELSE streak.failures END
     RETURNING failures`,
    runNumber(run),
    host,
    failures,
    succeeded,
  )
  return Number(row?.['failures'])
}

/** Writes only where there is a streak, which is rare. */
async function endStreak(db: Connection, run: RunId, host: string): Promise<void> {
  const sql = 'DELETE FROM "$streak" WHERE run = $1 AND host = $2'
  await db.run(sql, runNumber(run), host)
}
