import type { PointerEvent } from 'react'
import type { Column } from '../layout/column-layout.ts'

/** Dragging of column heads and their edges. */
export interface HeadDrag {
  /** The left position of the drop mark; null while no column is dragged. */
  readonly mark: number | null
  readonly name: string | null
  /** Starts moving a column. */
  beginMove(event: PointerEvent<HTMLElement>, column: Column): void
  /** Starts resizing a column. */
  beginResize(event: PointerEvent<HTMLElement>, column: Column): void
  /** Whether the press that just ended was a drag, not a click. */
  wasDrag(): boolean
}
