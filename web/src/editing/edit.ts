import type { SheetField } from '../api/contract.ts'
import type { CellRef } from '../state/view-state.ts'

/** A change of a cell by the user. */
export interface CellEdit {
  readonly recordId: string
  readonly field: SheetField
  readonly value: unknown
  /** The value that the page showed when the cell was changed. */
  readonly previous: unknown
}

/** The value that a cell shows while an edit is in flight or refused. */
export interface PendingEdit {
  readonly value: unknown
  readonly state: 'saving' | 'refused'
  /** The reason of a refusal. */
  readonly message: string | null
  /** The number of cells that are saved or were refused together, including this one. */
  readonly together: number
}

/** An edit in flight. */
export interface Edit {
  readonly key: string
  readonly recordId: string
  readonly field: SheetField
  readonly value: unknown
  /** The edit of the same cell that was in flight before. */
  readonly after: Edit | null
  readonly batch: Batch
  /** The latest known stored value: as seen when editing began, or as someone else wrote it since. */
  stored: unknown
  state: 'saving' | 'refused'
  message: string | null
  /** Whether a refused edit is saved again when the server can be reached. */
  waits: boolean
}

/** Edits that are written atomically. */
export interface Batch {
  /** Increases with every batch. */
  readonly order: number
  readonly edits: Edit[]
}

/** Returns a unique key; ids contain no control characters. */
export function cellKey({ recordId, field }: CellRef): string {
  return `${field}\0${recordId}`
}
