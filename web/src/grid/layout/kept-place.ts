import type { RecordSelection } from '../../api/queries.ts'
import type { CellRef } from '../../state/view-state.ts'

/** The scroll position of a list. */
export interface ScrollPlace {
  /** The offset within all rows in CSS pixels. */
  readonly offset: number
  readonly left: number
}

/** The place of a list in a tab, with the cell that was selected. */
export interface KeptPlace extends ScrollPlace {
  readonly cell: CellRef | null
}

const KEY = 'colophon.place'

/** Stores the place of a list in the session, for a reload and for the way back from another page. */
export function storePlace(list: RecordSelection, place: KeptPlace): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...place, list: nameOf(list) }))
  } catch {
    // Storage is full or forbidden: the list begins at its first row.
  }
}

/** Returns the stored place of a list; null if another list was stored last. */
export function readPlace(list: RecordSelection): KeptPlace | null {
  try {
    const { offset, left, cell, ...kept } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Partial<
      KeptPlace & { list: string }
    >
    if (kept.list !== nameOf(list) || !Number.isFinite(offset) || !Number.isFinite(left)) return null
    return { offset: Number(offset), left: Number(left), cell: cell ?? null }
  } catch {
    return null
  }
}

/** An earlier state has the name of the list of all records: both are in creation order. */
function nameOf({ filter, sort }: RecordSelection): string {
  return JSON.stringify([filter, sort])
}
