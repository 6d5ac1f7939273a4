import {
  listPrunable,
  removePart,
  ROWS_AT_ONCE,
  RUN_PARTS,
  RUNS_AT_ONCE,
  type PruneStep,
  type RunPruning,
} from '../../prune-runs.ts'
import type { ChangeSet } from '../changes/change-set.ts'

const parameter = (number: number): string => `$${number}`

/** Removes some of the runs that can be removed; see {@link SheetStore.pruneRuns}. */
export async function pruneRuns({ db }: ChangeSet, which: RunPruning): Promise<PruneStep> {
  const { sql, params } = listPrunable(which, parameter)
  const listed = await db.all(sql, ...params)
  let [runs, failures, room] = [0, 0, ROWS_AT_ONCE]
  for (const row of listed) {
    const id = Number(row['id'])
    // Its row goes last, so that what is left after a crash is found again.
    for (const part of RUN_PARTS) room -= await db.run(removePart(part, parameter), id, room)
    if (room <= 0) return { runs, failures, more: true }
    await db.run('DELETE FROM "$run" WHERE id = $1', id)
    runs += 1
    failures += Number(row['failed'])
  }
  return { runs, failures, more: listed.length === RUNS_AT_ONCE }
}
