import type { EntryRef, RevertResult, SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, RunOrder } from '../../../store/stored-run.ts'
import { NO_PROGRESS, type ActiveRun } from '../../active-run.ts'

/** The most entries undone in one transaction. */
const ENTRIES_AT_ONCE = 500

/** The actor of a revert, and the run to undo. */
export type RevertOrder = Pick<RunOrder, 'actor'> & { readonly reverts: RunId }

/**
 * Undoes the entries of a run, the last first. Each step leaves the cells as they were at some moment of that run, so
 * that a value of a unique field never collides with one that is restored later. A run writes each cell once.
 */
export async function undoRun(
  store: SheetStore,
  { id, signal, feed }: ActiveRun,
  { actor, reverts }: RevertOrder,
): Promise<RevertResult> {
  const total = await store.runEntryCount(reverts)
  await store.runLocked(id, { total, absent: [], manual: 0 })
  feed.onProgress({ ...NO_PROGRESS, total })
  const conflicts: RevertResult['conflicts'][] = []
  for (let before: number | null = null; ;) {
    signal.throwIfAborted()
    const entries: readonly EntryRef[] = await store.runEntries({
      run: reverts,
      before,
      limit: ENTRIES_AT_ONCE,
    })
    const first = entries.at(-1)
    if (first === undefined) break
    before = first.seq
    const step = await store.revert({ actor, entries, run: id })
    conflicts.push(step.conflicts)
    const { done, materialized, skipped } = feed.progress
    feed.onProgress({
      ...feed.progress,
      done: done + entries.length,
      materialized: materialized + step.reverted,
      skipped: skipped + step.conflicts.length,
    })
  }
  return { reverted: feed.progress.materialized, conflicts: conflicts.flat().toReversed() }
}
