import type { Contract, Field } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { checkMayDelete } from '../../contract/rules/permissions.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { ConflictError, SheetError } from '../../errors/service-error.ts'
import type { RecordKey } from '../cell-work.ts'
import { memberOf } from '../sheet-files/import-lines.ts'
import { computedBy, type Undoing } from './revert-rules.ts'
import type { Deletion, DeletionRef, RecordToRestore, RestoreRequest } from '../sheet-store.ts'
import { hashBytes } from '../rows/stored-rows.ts'
import type { StoredTarget, StoredTargets } from '../rows/stored-targets.ts'
import type { ChangedCells, LoggedDeletion, StoreChange } from './store-change.ts'
import { UpsertJudge, type RecordWrite } from './upsert-validation.ts'
import { Faults } from './upsert-body.ts'

/** The computation of a value. */
type Computation = NonNullable<Undoing['computed']>

/** A cell that was computed, and not overridden, before the deletion of its record. */
export interface ComputedBefore {
  readonly target: StoredTarget
  readonly computation: Computation
}

/** A deleted record that can be restored. */
export interface Restoring {
  readonly deletion: LoggedDeletion
  readonly write: RecordWrite
  readonly computed: readonly ComputedBefore[]
  readonly hashes: RecordToRestore['hashes']
}

/** Returns the deletion of a line of the log; null when it is no deletion of this record. */
export function deletionIn(line: JsonObject | null, recordId: string): Deletion | null {
  if (line?.['source'] !== 'delete' || line['record_id'] !== recordId) return null
  const values = line['previous']
  return isJsonObject(values)
    ? { recordId, seq: Number(line['seq']), values: { ...values, id: recordId } }
    : null
}

/** Returns the seq of the deletion that the first line of a record undid; null when the record was not restored. */
export function restoredFrom(first: JsonObject | null): number | null {
  // The line of a reverted cell is never the first of its record.
  const { source, reverts } = first ?? {}
  return source === 'revert' && typeof reverts === 'number' ? reverts : null
}

/**
 * Returns SQL that selects the line of a deletion, and the life that it ended; `seq` is an expression that is null for the
 * latest.
 */
export function selectDeletion(id: string, seq: string): string {
  return `SELECT seq, record, line FROM "$provenance" WHERE seq = coalesce(${seq},
    (SELECT max(seq) FROM "$provenance" WHERE record = (SELECT max(record) FROM "$deleted" WHERE record_id = ${id})),
    (SELECT max(seq) FROM "$provenance" WHERE earlier_id = ${id}))`
}

/** An input hash of the store; an imported log may have any text. */
const INPUT_HASH = /^sha256:[0-9a-f]{64}$/

/**
 * Returns the computation of the value that a cell had when its record was deleted; null when that was written by hand, or
 * missing. `entry` is the latest entry of the cell before the deletion, `isOfLife` whether it belongs to the life that the
 * deletion ended: a cell with an entry of an earlier life only was missing.
 */
export function computationBefore(
  entry: JsonObject | null,
  value: JsonValue,
  isOfLife: boolean,
): Computation | null {
  const computation = computedBy(entry)
  if (computation === null || (value === null && !isOfLife)) return null
  return INPUT_HASH.test(computation.inputHash) ? computation : null
}

/**
 * Throws PermissionDeniedError for an actor that may not delete (D7), SheetError for records without a deletion in the log,
 * and ConflictError for ids that exist again.
 */
export function checkRestore(
  contract: Contract,
  { records, actor }: RestoreRequest,
  found: {
    readonly deletion: (ref: DeletionRef) => Deletion | null
    readonly exists: (id: string) => boolean
  },
): void {
  checkMayDelete(contract, actor, 'restore deleted records')
  const [unknown, present] = [new Faults(), new Faults()]
  for (const ref of records) {
    const id = showValue(ref.recordId)
    if (found.exists(ref.recordId)) present.add(() => `record ${id} exists`)
    else if (found.deletion(ref) === null) unknown.add(() => noDeletion(ref))
  }
  if (unknown.count > 0) throw new SheetError(unknown.message(), 'unknown_entry', { action: 'list_entries' })
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

/** Returns a validator of records to restore, which checks all values, whatever the actor may write. */
export function restoreJudge(contract: Contract, actor: string, targets: StoredTargets): UpsertJudge {
  return new UpsertJudge(contract, { actor, proposal: null, anyField: true }, (field) =>
    targets.isDerived(field),
  )
}

/**
 * Adds the lines of a restored record, whose key is `record`; returns the seqs of the lines of computed cells, and of the
 * last line.
 */
export function logRestored(
  change: Pick<StoreChange, 'logRecord' | 'logRevert'>,
  record: RecordKey,
  { restoring, actor }: { readonly restoring: Restoring; readonly actor: string },
): { readonly last: number; readonly cells: readonly (ComputedBefore & { readonly seq: number })[] } {
  const { deletion, write, computed } = restoring
  const fields = writtenFields(restoring)
  let last = change.logRecord(
    {
      actor,
      proposal: null,
      source: 'revert',
      reverts: deletion.seq,
      recordId: write.id,
      fields,
      values: Object.fromEntries(fields.map(({ name }) => [name, memberOf(write.record, name)])),
      previous: null,
    },
    record,
  )
  const cells = computed.map(({ target, computation }) => {
    const { inputHash, derivation } = computation
    last = change.logRevert(
      {
        actor,
        source: 'revert',
        record_id: write.id,
        field: target.field,
        value: memberOf(write.record, target.field),
        previous: null,
        reverts: deletion.seq,
        input_hash: inputHash,
        ...(typeof derivation === 'string' ? { derivation } : {}),
      },
      record,
    )
    return { target, computation, seq: last }
  })
  return { last, cells }
}

/** Returns a function for the value of a field that was not computed; null for none. */
export function writtenValues(restoring: Restoring): (field: string) => JsonValue {
  const written = new Set(writtenFields(restoring).map(({ name }) => name))
  return (field) => (written.has(field) ? memberOf(restoring.write.record, field) : null)
}

/** Returns the fields of a record to restore with a value that was not computed. */
function writtenFields({ write, computed }: Pick<Restoring, 'write' | 'computed'>): readonly Field[] {
  const cells = new Set(computed.map(({ target }) => target.field))
  return write.fields.filter(({ name }) => !cells.has(name))
}

/**
 * Sets the state of the computed cells of a restored record: fresh where the present derivation makes the hash of the
 * value's computation, else stale, which the next run resolves (D32).
 */
export function markRestored(
  states: ChangedCells,
  record: RecordKey,
  {
    cells,
    hashes,
  }: {
    readonly cells: readonly (ComputedBefore & { readonly seq: number })[]
    readonly hashes: RecordToRestore['hashes']
  },
): void {
  for (const { target, computation, seq } of cells) {
    states.restored(target, record, { hash: hashBytes(computation.inputHash), seq })
  }
  for (const { target, computation } of cells) {
    const isFresh = hashes.some(
      ({ field, sha256, inputHash }) =>
        field === target.field && sha256 === target.sha256 && inputHash === computation.inputHash,
    )
    if (isFresh) states.unchanged(target, record)
  }
}
