import type { SheetField } from '../api/contract.ts'
import type { CellRef } from '../state/view-state.ts'

/** A cell that somebody changes. */
export interface CellEdit {
  readonly recordId: string
  readonly field: SheetField
  readonly value: unknown
  /** What the cell had when it was changed, as far as the page knew. */
  readonly previous: unknown
}

/** What a cell shows instead of what was read: an edit on its way, or one that was refused. */
export interface PendingEdit {
  readonly value: unknown
  readonly state: 'saving' | 'refused'
  /** Why it was refused. */
  readonly message: string | null
  /** How many cells are saved, or were refused, together with this one; itself included. */
  readonly together: number
}

/** An edit on its way to the server. */
export interface Edit {
  readonly key: string
  readonly recordId: string
  readonly field: SheetField
  readonly value: unknown
  /** The edit of the same cell that was on its way before. */
  readonly after: Edit | null
  readonly batch: Batch
  /** What the server is known to have: what was seen when editing began, or what somebody else has written since. */
  stored: unknown
  state: 'saving' | 'refused'
  message: string | null
}

/** Edits that are written together: all of them or none. */
export interface Batch {
  /** Counts up. */
  readonly order: number
  readonly edits: Edit[]
}

/** Ids hold no control characters. */
export function cellKey({ recordId, field }: CellRef): string {
  return `${field}\0${recordId}`
}
