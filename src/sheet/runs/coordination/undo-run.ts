import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import { ConflictError, SheetError, ValidationError } from '../../../errors/service-error.ts'
import type { RevertResult, RunDeletionRef, RunEntry, SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, RunOrder } from '../../../store/stored-run.ts'
import { NO_PROGRESS, type ActiveRun } from '../../active-run.ts'
import { withHashes } from '../../cells/hashes-of-deleted.ts'

/** The most lines whose entries are undone in one transaction. */
const LINES_AT_ONCE = 500

/** The actor of a revert, and the run to undo. */
export type RevertOrder = Pick<RunOrder, 'actor'> & { readonly reverts: RunId }

/** The store, and the derivations by which restored cells are fresh or stale. */
interface UndoContext {
  readonly store: SheetStore
  readonly derivations: readonly Derivation[]
}

/**
 * Undoes the entries of a run, the last first. Each step leaves the cells as they were at some moment of that run, so
 * that a value of a unique field never collides with one that is restored later.
 */
export async function undoRun(
  { store, derivations }: UndoContext,
  { id, signal, feed }: ActiveRun,
  { actor, reverts }: RevertOrder,
): Promise<RevertResult> {
  let total = await store.runEntryCount(reverts)
  await store.runLocked(id, { total, absent: [], manual: 0 })
  feed.onProgress({ ...NO_PROGRESS, total })
  const conflicts: RevertResult['conflicts'][] = []
  for (let before: number | null = null; ;) {
    signal.throwIfAborted()
    const entries: readonly RunEntry[] = await store.runEntries({
      run: reverts,
      before,
      limit: LINES_AT_ONCE,
    })
    const first = entries.at(-1)
    if (first === undefined) break
    before = first.seq
    // The total counts lines, and a line of a record has several entries.
    total += entries.length - new Set(entries.map(({ seq }) => seq)).size
    for (const step of stepsOf(entries)) {
      const result =
        step.do === 'restore'
          ? await restore({ store, derivations }, step.entries, { actor, run: id })
          : await store.revert({ actor, entries: step.entries, run: id })
      conflicts.push(result.conflicts)
      const { done, materialized, skipped } = feed.progress
      feed.onProgress({
        ...feed.progress,
        total,
        done: done + step.entries.length,
        materialized: materialized + result.reverted,
        skipped: skipped + result.conflicts.length,
      })
    }
  }
  return { reverted: feed.progress.materialized, conflicts: conflicts.flat().toReversed() }
}

/** Entries that are undone together: no record is in it with two lines. */
type UndoStep =
  | { readonly do: 'revert'; readonly entries: RunEntry[] }
  | { readonly do: 'restore'; readonly entries: RunDeletionRef[] }

function stepsOf(entries: readonly RunEntry[]): readonly UndoStep[] {
  const steps: UndoStep[] = []
  let lineOf = new Map<string, number>()
  for (const entry of entries) {
    const last = steps.at(-1)
    const isDeletion = entry.field === null && entry.values === null
    const isAlone = (lineOf.get(entry.recordId) ?? entry.seq) === entry.seq
    if (isAlone && isDeletion && last?.do === 'restore') last.entries.push(entry)
    else if (isAlone && !isDeletion && last?.do === 'revert') last.entries.push(entry)
    else {
      lineOf = new Map()
      steps.push(isDeletion ? { do: 'restore', entries: [entry] } : { do: 'revert', entries: [entry] })
    }
    lineOf.set(entry.recordId, entry.seq)
  }
  return steps
}

/** The errors because of which a record is not restored. */
const REFUSALS = [ConflictError, SheetError, ValidationError]

/** Restores records that a run deleted; one that exists again, or that the contract no longer allows, is a conflict. */
async function restore(
  { store, derivations }: UndoContext,
  deletions: readonly RunDeletionRef[],
  { actor, run }: { readonly actor: string; readonly run: RunId },
): Promise<RevertResult> {
  const records = await withHashes(store, derivations, deletions)
  try {
    const { restored } = await store.restore({ actor, records, run })
    return { reverted: restored, conflicts: [] }
  } catch (error) {
    if (!REFUSALS.some((refusal) => error instanceof refusal)) throw error
    const [deletion] = deletions
    if (deletion === undefined || deletions.length > 1) {
      const each: RevertResult[] = []
      for (const one of deletions) each.push(await restore({ store, derivations }, [one], { actor, run }))
      return {
        reverted: each.reduce((sum, { reverted }) => sum + reverted, 0),
        conflicts: each.flatMap(({ conflicts }) => conflicts),
      }
    }
    return { reverted: 0, conflicts: [{ recordId: deletion.recordId, field: 'id' }] }
  }
}
