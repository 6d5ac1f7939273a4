import type { OutdatedCells } from '../cell-work.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange } from './store-change.ts'

/**
 * Makes fresh cells stale whose results may differ with the present sources of their derivation, and forgets the failures of cells that are
 * skipped with them (D32).
 */
export function* markOutdated(change: StoreChange, { cells, checked }: OutdatedCells): Steps<void> {
  yield* load(change.load(cells.map(({ id }) => id)))
  for (const { id, targets, skipped } of cells) {
    const record = change.records.get(id)
    if (record === undefined) continue
    for (const field of targets) {
      const target = change.cells.target(field)
      if (target !== undefined) change.cells.outdated(target, record.key)
    }
    for (const field of skipped) {
      const target = change.cells.target(field)
      if (target !== undefined) change.cells.skipped(target, record.key)
    }
  }
  if (checked === null) return
  for (const field of checked.targets) {
    // Nothing is stored where the sources have changed again: then they are checked again.
    const sql =
      'UPDATE "$target" SET checked_sources = sources WHERE field = ?1 AND coalesce(sources, \'\') = ?2'
    yield* load(change.db.change({ sql, params: [field, checked.sources ?? ''] }))
  }
}
