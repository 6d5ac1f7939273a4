import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { writeDenial } from '../../contract/rules/permissions.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { PermissionDeniedError, SheetError } from '../../errors/service-error.ts'
import type { RevertLine, Unnumbered } from '../../provenance/log-line.ts'
import type { RecordKey } from '../cell-work.ts'
import type { EntryRef, RevertRequest, RevertResult } from '../sheet-store.ts'
import { hashBytes } from '../rows/stored-rows.ts'
import type { ChangedCells } from './store-change.ts'
import { UniqueClaims } from './unique-claims.ts'
import { Faults } from './upsert-body.ts'

/** An entry that can be undone, and the state of its cell afterwards. */
export interface Undoing {
  readonly entry: EntryRef
  readonly field: Field
  /** The present value of the cell. */
  readonly current: JsonValue
  /** The value after the revert. */
  readonly value: JsonValue
  /** The computation of that value; null when it was not computed. */
  readonly computed: { readonly inputHash: string; readonly derivation: JsonValue } | null
  /** The input hash of the result that is undone; null when the entry is not computed. */
  readonly answer: string | null
  /** The reason why the actor may not undo the entry; null when they may. */
  readonly denial: string | null
}

/** Returns the computation of an entry; null when it is not computed. */
export function computedBy(before: JsonObject | null): Undoing['computed'] {
  const inputHash = before?.['input_hash']
  if (typeof inputHash !== 'string') return null
  return { inputHash, derivation: before?.['derivation'] ?? null }
}

/** Returns the reason why an actor may not undo an entry that was written by hand. */
export function denialOf(entry: EntryRef, field: Field, actor: string): string {
  return `${nameOf(entry)}: ${writeDenial(field, actor)}`
}

/** Throws PermissionDeniedError when the actor may not undo any of these. */
export function throwIfDenied(undoings: readonly Undoing[]): void {
  const denials = new Faults()
  for (const { denial } of undoings) if (denial !== null) denials.add(() => denial)
  if (denials.count > 0) throw new PermissionDeniedError(denials.message(), 'write_not_permitted')
}

/** Returns the claims of undoings to unique values; the position of a claim is that of its undoing. */
export function claimsOf(undoings: readonly Undoing[]): UniqueClaims {
  const claims = new UniqueClaims()
  undoings.forEach(({ field, entry, value }, position) => {
    if (field.unique) claims.add({ field, id: entry.recordId, position, value })
  })
  return claims
}

/** Returns the log line of an undoing. */
export function revertLine(
  { entry, field, current, value, computed }: Undoing,
  { actor, run }: RevertRequest,
): Unnumbered<RevertLine> {
  return {
    actor,
    source: 'revert',
    record_id: entry.recordId,
    field: field.name,
    value,
    previous: current,
    reverts: entry.seq,
    ...(run === null ? {} : { run_id: run }),
    ...(computed === null ? {} : { input_hash: computed.inputHash }),
    ...(typeof computed?.derivation === 'string' ? { derivation: computed.derivation } : {}),
  }
}

/** Sets the state of a reverted cell of this record; `seq` is that of its line. */
export function markUndone(
  cells: ChangedCells,
  record: RecordKey,
  { undoing, seq }: { undoing: Undoing; seq: number },
): void {
  const { field, value, computed } = undoing
  const target = cells.target(field.name)
  if (target === undefined) return
  if (computed === null) cells.writtenByHand(target, record, { hasValue: value !== null, seq })
  else cells.restored(target, record, { hash: hashBytes(computed.inputHash), seq })
}

/** Returns the result of a revert with these undoings. */
export function resultOf({ entries }: RevertRequest, undoings: readonly Undoing[]): RevertResult {
  const undone = new Set(undoings.map(({ entry }) => entry))
  const conflicts = entries
    .filter((entry) => !undone.has(entry))
    .map(({ recordId, field }) => ({ recordId, field }))
  return { reverted: undone.size, conflicts }
}

/** Returns the error for an entry that its cell does not have. */
export function noSuchEntry(entry: EntryRef): SheetError {
  return new SheetError(`${nameOf(entry)}: there is no provenance entry ${entry.seq}`, 'unknown_entry', {
    action: 'list_entries',
  })
}

function nameOf({ recordId, field }: EntryRef): string {
  return `record ${showValue(recordId)}, field ${showValue(field)}`
}
