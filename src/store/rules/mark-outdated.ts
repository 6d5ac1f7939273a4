import type { OutdatedCells } from '../cell-work.ts'
import { BLOCKED_COUNTERS, canBeBlocked, findBlockedSql } from '../rows/blocked-sql.ts'
import type { QueryRow } from '../rows/query.ts'
import { STALE, type TodoState } from '../rows/stored-rows.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange } from './store-change.ts'

/**
 * Makes fresh cells stale whose results may differ with the present sources of their derivation, and forgets the failures of cells that are
 * skipped with them (D32).
 */
export function* markOutdated(change: StoreChange, { cells, checked, all = [] }: OutdatedCells): Steps<void> {
  for (const field of all) yield* markAll(change, field)
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

/** Makes all fresh cells of a derived field stale: its query may have another result in any record. */
function* markAll(change: StoreChange, field: string): Steps<void> {
  const target = change.cells.target(field)
  if (target?.active !== true || target.reads === null) return
  // Version 0 keeps that of the cell: no write of the record happened (D28).
  const stale = yield* load(
    change.db.change({
      sql: `INSERT INTO "$todo" (target, record, state, mark) SELECT target, record, ${STALE}, 0 FROM "$cell" AS cell
        WHERE target = ?1 AND hash IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM "$todo" AS todo WHERE todo.target = cell.target AND todo.record = cell.record)`,
      params: [target.id],
    }),
  )
  const sql = 'UPDATE "$target" SET stale = stale + ?1, checked_sources = sources WHERE id = ?2'
  yield* load(change.db.change({ sql, params: [stale, target.id] }))
  if (stale > 0) yield* recountBlocked(change, field)
}

/** Determines which cells of a derived field, and of those computed from it, are blocked. */
function* recountBlocked(change: StoreChange, field: string): Steps<void> {
  for (const target of change.cells.downstream([field])) {
    if (!canBeBlocked(target, change.cells)) continue
    const count = {
      sql: 'SELECT state, count(*) AS blocked FROM "$todo" WHERE target = ?1 AND blocked GROUP BY state',
      params: [target.id],
      result: countedByState,
    }
    const before = yield* load(change.db.query(count))
    yield* load(change.db.change({ sql: findBlockedSql(target, change.cells), params: [] }))
    const after = yield* load(change.db.query(count))
    for (const state of new Set([...before.keys(), ...after.keys()])) {
      const more = (after.get(state) ?? 0) - (before.get(state) ?? 0)
      // The counters may lack other changes of the transaction, which are added at its end.
      const set = BLOCKED_COUNTERS[state].map((counter) => `${counter} = ${counter} + ?1`).join(', ')
      const sql = `UPDATE "$target" SET ${set} WHERE id = ?2`
      if (more !== 0) yield* load(change.db.change({ sql, params: [more, target.id] }))
    }
  }
}

function countedByState(rows: readonly QueryRow[]): ReadonlyMap<TodoState, number> {
  return new Map(rows.map((row) => [Number(row['state']) as TodoState, Number(row['blocked'])]))
}
