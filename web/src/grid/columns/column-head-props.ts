import type { SheetField } from '../../api/contract.ts'
import type { RecordFilter } from '../../api/record-filter.ts'
import type { Column } from '../layout/column-layout.ts'
import type { HeadDrag } from './head-drag.ts'
import type { SortTerm } from '../../state/sort-order.ts'
import type { Columns } from '../layout/use-columns.ts'
import type { GridModel } from '../interaction/use-grid.ts'

/** The callbacks of column heads, behind a stable object so that heads render only when they look different. */
export interface HeadHost {
  readonly current: {
    readonly model: GridModel
    readonly openMenu: (name: string | null) => void
    /** Sorts by a column, then descending, then not; `add` keeps the other columns of the sort order. */
    readonly sortBy: (column: number, add: boolean) => void
  }
}

export interface ColumnHeadProps {
  readonly host: HeadHost
  readonly columns: Columns
  readonly column: Column
  /** The filter of the shown records. */
  readonly filter: RecordFilter | null
  /** Whether the records are loaded, so that summaries may be requested. */
  readonly isReady: boolean
  /** Whether the grid shows an earlier state, which is neither sorted nor filtered nor summarized. */
  readonly isPast: boolean
  readonly sortTerm: SortTerm | null
  /** The position among several sort fields, from 1; null for a single one. */
  readonly sortPlace: number | null
  readonly isActive: boolean
  /** Whether the actor may not edit the field. */
  readonly isLocked: boolean
  readonly isMenuOpen: boolean
  readonly onFit: () => void
  readonly drag: HeadDrag
}

/** Whether the server can sort by the field; it cannot by arrays and objects. */
export function isSortable({ type }: SheetField): boolean {
  return type !== 'array' && type !== 'object'
}
