import type { PointerEvent } from 'react'
import type { Column } from '../layout/column-layout.ts'

/** Dragging the heads of columns, and their edges. */
export interface HeadDrag {
  /** Where the column would be put, from the left of the row; null while none is dragged. */
  readonly mark: number | null
  readonly name: string | null
  /** Begins to drag a column to another place. */
  beginMove(event: PointerEvent<HTMLElement>, column: Column): void
  /** Begins to drag a column's edge. */
  beginResize(event: PointerEvent<HTMLElement>, column: Column): void
  /** Whether the press that ends just now was a drag, and not a click. */
  wasDrag(): boolean
}
