import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import type { SheetField } from '../../api/contract.ts'
import { sameValue } from '../../values/same-value.ts'
import { isComputed, isErased } from './origin-sentence.ts'

/** The way to restore the value of an entry, or the reason why that is not possible. */
export type RestoreOption = RestoreMethod | { readonly by: 'nothing'; readonly why: string | null }

export type RestoreMethod =
  /** By reverting an entry. */
  | { readonly by: 'undo'; readonly seq: number; readonly leaves: StateAfterUndo }
  /** By writing the value. */
  | { readonly by: 'write' }

/**
 * The state of a derived cell after reverting an entry, derived from the entry before; if that was computed, the
 * server decides.
 */
export type StateAfterUndo = 'missing' | 'overridden' | 'computed'

/** The state and history of a cell, newest entry first. */
export interface CellHistory {
  readonly field: Pick<SheetField, 'title' | 'primaryKey' | 'required' | 'derived' | 'editableBy'>
  readonly history: readonly ProvenanceEntryAnswer[]
  /** The present value; undefined if the record is deleted. */
  readonly value: unknown
  readonly actor: string
  readonly mayWrite: boolean
}

/** No action, and no reason to show. */
const NOTHING: RestoreOption = { by: 'nothing', why: null }

/** Returns how to restore the value that an entry wrote. */
export function restoreMethodOf(entry: ProvenanceEntryAnswer, past: CellHistory): RestoreOption {
  const { field, value } = past
  if (entry.source === 'delete' || isErased(entry) || field.primaryKey) return NOTHING
  if (value !== undefined && sameValue(value, entry.value)) return NOTHING
  return toValue(entry.value, past)
}

/** Returns how to undo the latest entry; null if another entry offers the same value, or there is nothing to undo. */
export function undoOfLatest(past: CellHistory): RestoreMethod | null {
  const [latest, ...earlier] = past.history
  if (latest === undefined || latest.source === 'delete' || past.field.primaryKey || past.value === undefined)
    return null
  const { previous } = latest
  if (sameValue(latest.value, previous)) return null
  if (earlier.some(({ source, value }) => source !== 'delete' && sameValue(value, previous))) return null
  const wanted = toValue(previous, past)
  return wanted.by === 'nothing' ? null : wanted
}

function toValue(wanted: unknown, past: CellHistory): RestoreOption {
  const { field, value, mayWrite } = past
  if (value === undefined) return NOTHING
  const isNothing = wanted === null || wanted === undefined
  if (isNothing && field.required) return { by: 'nothing', why: `${field.title} must have a value.` }
  const undoable = undoableEntries(past.history).find(({ previous }) => sameValue(previous, wanted))
  if (undoable !== undefined && (mayWrite || !isByHand(undoable, past.history))) {
    return { by: 'undo', seq: undoable.seq, leaves: stateAfterUndo(undoable, past.history) }
  }
  if (!mayWrite) return { by: 'nothing', why: readOnlyReason(past) }
  // Writing null to a derived field makes it missing, so that it is computed.
  if (isNothing && field.derived !== null) return NOTHING
  return { by: 'write' }
}

function stateAfterUndo(
  undone: ProvenanceEntryAnswer,
  history: readonly ProvenanceEntryAnswer[],
): StateAfterUndo {
  const before = history[history.indexOf(undone) + 1]
  // A revert may have restored a computed value; it has the input hash then.
  if (before?.input_hash !== undefined && before.source !== 'delete') return 'computed'
  return undone.previous === null || undone.previous === undefined ? 'missing' : 'overridden'
}

function readOnlyReason({ field, actor }: CellHistory): string {
  const allowed = field.editableBy ?? []
  return allowed.length === 0
    ? `${field.title} is computed and not editable: only the latest change can be reverted.`
    : `Only ${allowed.join(', ')} may edit ${field.title}; you are ${actor}.`
}

/**
 * Returns the entries that the server would undo: the latest and, if that is a revert, the entry whose value the cell
 * now holds.
 */
export function undoableEntries(history: readonly ProvenanceEntryAnswer[]): readonly ProvenanceEntryAnswer[] {
  const [latest] = history
  if (latest === undefined) return []
  const inForce = entryInForce(history)
  return inForce === undefined || inForce === latest ? [latest] : [latest, inForce]
}

/** Returns the entry whose value the cell holds: a revert restores the value of an earlier one. */
function entryInForce(history: readonly ProvenanceEntryAnswer[]): ProvenanceEntryAnswer | undefined {
  let below = Infinity
  for (const entry of history) {
    if (entry.seq >= below) continue
    const undone = undoneBy(entry)
    if (undone === null) return entry
    below = undone
  }
  return undefined
}

function undoneBy({ seq, source, reverts }: ProvenanceEntryAnswer): number | null {
  return source === 'revert' && reverts !== undefined && reverts < seq ? reverts : null
}

/** Whether undoing the entry requires permission for the field; for a revert, the undone entry counts. */
function isByHand(entry: ProvenanceEntryAnswer, history: readonly ProvenanceEntryAnswer[]): boolean {
  let origin: ProvenanceEntryAnswer | undefined = entry
  for (let undone = undoneBy(entry); undone !== null && origin !== undefined;) {
    origin = history.find(({ seq }) => seq === undone)
    undone = origin === undefined ? null : undoneBy(origin)
  }
  return origin === undefined || !isComputed(origin)
}
