import type { SheetField } from '../api/contract.ts'
import type { Condition } from '../state/conditions.ts'

/** The choice of a group by a press, which limits the records of the grid to it. */
export interface Choosing {
  /** The field by whose values records are grouped. */
  readonly by: SheetField
  readonly conditions: readonly Condition[]
  readonly onFilter: (conditions: readonly Condition[]) => void
}

/** The number of colours in cell-value-view.css. */
export const HUES = 10

/** Returns a sum without the errors that sums of decimals have in their last digits. */
export function rounded(sum: number): number {
  return Number(sum.toPrecision(12))
}
