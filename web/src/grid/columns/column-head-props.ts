import type { SheetField } from '../../api/contract.ts'
import type { RecordFilter } from '../../api/record-filter.ts'
import type { Column } from '../layout/column-layout.ts'
import type { HeadDrag } from './head-drag.ts'
import type { SortTerm } from './sort-order.ts'
import type { Columns } from '../layout/use-columns.ts'
import type { GridModel } from '../interaction/use-grid.ts'

/** What heads do things with: always the latest, so that they are drawn again only when they look different. */
export interface HeadHost {
  readonly current: {
    readonly model: GridModel
    readonly openMenu: (name: string | null) => void
    /** The name was pressed, which sorts. */
    readonly press: (column: number, add: boolean) => void
  }
}

export interface ColumnHeadProps {
  readonly host: HeadHost
  readonly columns: Columns
  readonly column: Column
  /** What the records in sight are filtered by. */
  readonly filter: RecordFilter | null
  /** Whether it is known that there is anything to summarize. */
  readonly isReady: boolean
  readonly sortTerm: SortTerm | null
  /** Among several fields that are sorted by, from 1; null when it is the only one. */
  readonly sortPlace: number | null
  readonly isActive: boolean
  /** The actor may not write the field. */
  readonly isLocked: boolean
  readonly isMenuOpen: boolean
  readonly onFit: () => void
  readonly drag: HeadDrag
}

/** Lists and structures have no order. */
export function isSortable({ type }: SheetField): boolean {
  return type !== 'array' && type !== 'object'
}
