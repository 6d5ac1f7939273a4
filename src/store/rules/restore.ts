import { showValue } from '../../contract/json/show-value.ts'
import { checkMayDelete } from '../../contract/rules/permissions.ts'
import { ConflictError, SheetError } from '../../errors/service-error.ts'
import { computationOf, type Computation } from '../cell-entries.ts'
import { deletionsUndone } from '../rows/deleted-records.ts'
import { runReverted, updateRun } from '../rows/run-updates.ts'
import { hashBytes } from '../rows/stored-rows.ts'
import type { StoredTarget } from '../rows/stored-targets.ts'
import { memberOf } from '../sheet-files/import-lines.ts'
import type { DeletionRef, RecordToRestore, RestoreRequest, RestoreResult } from '../sheet-store.ts'
import type { RunId } from '../stored-run.ts'
import { load, type Steps } from './steps.ts'
import type { LoggedDeletion, StoreChange } from './store-change.ts'
import { Violations } from './upsert-body.ts'
import { UpsertValidator, type RecordWrite } from './upsert-validation.ts'

/** A cell that was computed, and not overridden, before the deletion of its record. */
interface ComputedCell {
  readonly target: StoredTarget
  readonly computation: Computation
}

/** A deleted record that can be restored. */
interface Restoring {
  readonly deletion: LoggedDeletion
  readonly write: RecordWrite
  readonly hashes: RecordToRestore['hashes']
}

/** Records whose cells are looked up in the log together. */
const RECORDS_AT_ONCE = 500

/** An input hash of the store; an imported log may have any text. */
const INPUT_HASH = /^sha256:[0-9a-f]{64}$/

/** Restores deleted records; see {@link SheetStore.restore}. */
export function* restore(change: StoreChange, request: RestoreRequest): Steps<RestoreResult> {
  const { records, actor, run = null } = request
  yield* load(change.load(records.map(({ recordId }) => recordId)))
  const found = yield* load(change.log.deletions(records))
  checkRestore(change, request, found)
  // All values are checked, whatever the actor may write.
  const writer = { actor, proposal: null, anyField: true }
  const validator = new UpsertValidator(change.contract, writer, (field) => change.cells.isDerived(field))
  const all: Restoring[] = []
  for (const [position, { hashes }] of records.entries()) {
    const deletion = found[position] ?? null
    const write = deletion === null ? null : validator.validate(deletion.values, position, null)
    if (deletion !== null && write !== null) all.push({ deletion, write, hashes })
  }
  const { claims } = validator
  if (!claims.isEmpty) validator.refuse(claims.conflicts(yield* load(change.holders(claims))))
  validator.throwViolations()
  for (let start = 0; start < all.length; start += RECORDS_AT_ONCE) {
    const some = all.slice(start, start + RECORDS_AT_ONCE)
    const computed = yield* load(change.together(some.map(({ deletion }) => computedCells(change, deletion))))
    const restored = some.map((restoring, index) =>
      insertRestored(change, restoring, { cells: computed[index] ?? [], actor, run }),
    )
    yield* load(change.flush())
    for (const restoreCells of restored) restoreCells()
    const lives = some.map(({ deletion }) => deletion.life).filter((life) => life !== null)
    if (lives.length > 0) yield* load(change.db.change(deletionsUndone(lives)))
  }
  const result = { reverted: all.length, conflicts: [] }
  if (run !== null) yield* load(change.db.change(updateRun(run, runReverted(result, change.at))))
  return { restored: all.length }
}

/**
 * Throws PermissionDeniedError for an actor that may not delete (D7), SheetError for records without a deletion in the log,
 * and ConflictError for ids that exist again.
 */
function checkRestore(
  change: StoreChange,
  { records, actor }: RestoreRequest,
  deletions: readonly (LoggedDeletion | null)[],
): void {
  checkMayDelete(change.contract, actor, 'restore deleted records')
  const [unknown, present] = [new Violations(), new Violations()]
  for (const [index, ref] of records.entries()) {
    if (change.records.get(ref.recordId) !== undefined)
      present.add(() => `record ${showValue(ref.recordId)} exists`)
    else if ((deletions[index] ?? null) === null) unknown.add(() => noDeletion(ref))
  }
  if (unknown.count > 0)
    throw new SheetError(unknown.message(), 'unknown_entry', { hint: { action: 'list_entries' } })
  if (present.count > 0) {
    throw new ConflictError(
      `${present.message()}; nothing was restored, since restoring never overwrites a record`,
      'record_exists',
    )
  }
}

function noDeletion({ recordId, seq }: DeletionRef): string {
  const id = showValue(recordId)
  if (seq === null) return `the log has no deletion of a record ${id}`
  return `record ${id}: the provenance entry ${seq} is no deletion of it`
}

/** Returns the cells of a deleted record that had a computed value. */
function* computedCells(change: StoreChange, deletion: LoggedDeletion): Steps<ComputedCell[]> {
  const targets = change.cells.targets.filter(({ active }) => active)
  const cells = yield* load(change.together(targets.map((target) => computedCell(change, deletion, target))))
  return cells.filter((cell) => cell !== null)
}

/** Returns a cell of a deleted record; null when its value was written by hand, or missing. */
function* computedCell(
  { contract, log }: StoreChange,
  { recordId, seq, life, values }: LoggedDeletion,
  target: StoredTarget,
): Steps<ComputedCell | null> {
  const field = contract.fieldByName.get(target.field)
  if (field === undefined) return null
  const history = yield* load(log.cell(recordId, field))
  const entry = history === null ? null : yield* history.latestBefore(seq)
  const isOfLife =
    entry !== null && life !== null && (yield* load(log.isOfLife({ seq: Number(entry['seq']), key: life })))
  const computation = computationOf(entry)
  if (computation === null || !INPUT_HASH.test(computation.input_hash)) return null
  // An empty cell with an entry of an earlier life only was missing.
  return memberOf(values, target.field) === null && !isOfLife ? null : { target, computation }
}

/** Inserts a record with its lines; returns a function that restores the states of its computed cells. */
function insertRestored(
  change: StoreChange,
  { deletion, write, hashes }: Restoring,
  {
    cells,
    actor,
    run,
  }: { readonly cells: readonly ComputedCell[]; readonly actor: string; readonly run: RunId | null },
): () => void {
  const { id, record, values } = write
  const computed = new Set(cells.map(({ target }) => target.field))
  const fields = write.fields.filter(({ name }) => !computed.has(name))
  const written = Object.fromEntries(fields.map(({ name }) => [name, memberOf(record, name)]))
  const key = change.newKey()
  const reverts = deletion.seq
  const first = change.logRecord(
    {
      actor,
      proposal: null,
      run,
      source: 'revert',
      reverts,
      recordId: id,
      fields,
      values: written,
      previous: null,
    },
    key,
  )
  const logged = cells.map(({ target, computation }) => {
    const { field } = target
    const value = memberOf(record, field)
    const seq = change.logRevert(
      {
        actor,
        source: 'revert',
        record_id: id,
        field,
        value,
        previous: null,
        reverts,
        ...(run === null ? {} : { run_id: run }),
        ...computation,
      },
      key,
    )
    return { target, inputHash: computation.input_hash, seq }
  })
  const seq = logged.at(-1)?.seq ?? first
  change.insert({ id, key, seq, record, values, written: (field) => memberOf(written, field) })
  return () => {
    for (const cell of logged)
      change.cells.restored(cell.target, key, { hash: hashBytes(cell.inputHash), seq: cell.seq })
    for (const { target, inputHash } of logged) {
      // Fresh where the present derivation makes the same hash, else stale, which the next run resolves (D32).
      const isFresh = hashes.some(
        (now) => now.field === target.field && now.sha256 === target.sha256 && now.inputHash === inputHash,
      )
      if (isFresh) change.cells.unchanged(target, key)
    }
  }
}
