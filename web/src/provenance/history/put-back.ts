import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import type { SheetField } from '../../api/contract.ts'
import { sameValue } from '../../values/same-value.ts'
import { isComputed } from './origin-sentence.ts'

/** How the value of an entry can be put back, or why it cannot. */
export type PutBack = WayBack | { readonly by: 'nothing'; readonly why: string | null }

export type WayBack =
  /** By undoing an entry. */
  | { readonly by: 'undo'; readonly seq: number; readonly leaves: Leaves }
  /** By writing the value like any other. */
  | { readonly by: 'write' }

/**
 * What undoing an entry makes of a derived cell, going by the entry before it: where that was computed, the server looks
 * whether it may be fresh.
 */
export type Leaves = 'missing' | 'overridden' | 'computed'

/** What is known of the cell, its entries the newest first. */
export interface CellPast {
  readonly field: Pick<SheetField, 'title' | 'primaryKey' | 'required' | 'derived' | 'editableBy'>
  readonly history: readonly ProvenanceEntryAnswer[]
  /** What the cell has now; undefined when its record is gone. */
  readonly value: unknown
  readonly actor: string
  readonly mayWrite: boolean
}

/** Where there is nothing to do, or the panel says why not in another place. */
const NOTHING: PutBack = { by: 'nothing', why: null }

/** How to put back the value that an entry wrote. */
export function putBackOf(entry: ProvenanceEntryAnswer, past: CellPast): PutBack {
  const { field, value } = past
  if (entry.source === 'delete' || field.primaryKey) return NOTHING
  if (value !== undefined && sameValue(value, entry.value)) return NOTHING
  return toValue(entry.value, past)
}

/**
 * How to take back the latest entry, where no other entry of the history offers the value from before it; null where one
 * does, or there is nothing to take back.
 */
export function undoOfLatest(past: CellPast): WayBack | null {
  const [latest, ...earlier] = past.history
  if (latest === undefined || latest.source === 'delete' || past.field.primaryKey || past.value === undefined)
    return null
  const { previous } = latest
  if (sameValue(latest.value, previous)) return null
  if (earlier.some(({ source, value }) => source !== 'delete' && sameValue(value, previous))) return null
  const wanted = toValue(previous, past)
  return wanted.by === 'nothing' ? null : wanted
}

function toValue(wanted: unknown, past: CellPast): PutBack {
  const { field, value, mayWrite } = past
  if (value === undefined) return NOTHING
  const isNothing = wanted === null || wanted === undefined
  if (isNothing && field.required) return { by: 'nothing', why: `${field.title} must have a value.` }
  const undoable = undoableEntries(past.history).find(({ previous }) => sameValue(previous, wanted))
  if (undoable !== undefined && (mayWrite || !isByHand(undoable, past.history))) {
    return { by: 'undo', seq: undoable.seq, leaves: leavesOf(undoable, past.history) }
  }
  if (!mayWrite) return { by: 'nothing', why: whyNot(past) }
  // Nothing written to a derived field means: compute it.
  if (isNothing && field.derived !== null) return NOTHING
  return { by: 'write' }
}

function leavesOf(undone: ProvenanceEntryAnswer, history: readonly ProvenanceEntryAnswer[]): Leaves {
  const before = history[history.indexOf(undone) + 1]
  // The revert of something may have brought back what was computed: it has the input hash then.
  if (before?.input_hash !== undefined && before.source !== 'delete') return 'computed'
  return undone.previous === null || undone.previous === undefined ? 'missing' : 'overridden'
}

function whyNot({ field, actor }: CellPast): string {
  const allowed = field.editableBy ?? []
  return allowed.length === 0
    ? `${field.title} is computed and not editable: only the latest change can be undone.`
    : `Only ${allowed.join(', ')} may edit ${field.title}; you are ${actor}.`
}

/**
 * The entries that the server would undo: the latest; and when that is a revert, also the one that the cell holds the
 * value of since, for changes are taken back one after another.
 */
export function undoableEntries(history: readonly ProvenanceEntryAnswer[]): readonly ProvenanceEntryAnswer[] {
  const [latest] = history
  if (latest === undefined) return []
  const inForce = entryInForce(history)
  return inForce === undefined || inForce === latest ? [latest] : [latest, inForce]
}

/** The entry whose value the cell holds: a revert stands for the one before that which it undid. */
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

/** Whether undoing the entry takes permission for the field. Of a revert, what it undid counts. */
function isByHand(entry: ProvenanceEntryAnswer, history: readonly ProvenanceEntryAnswer[]): boolean {
  let origin: ProvenanceEntryAnswer | undefined = entry
  for (let undone = undoneBy(entry); undone !== null && origin !== undefined;) {
    origin = history.find(({ seq }) => seq === undone)
    undone = origin === undefined ? null : undoneBy(origin)
  }
  return origin === undefined || !isComputed(origin)
}
