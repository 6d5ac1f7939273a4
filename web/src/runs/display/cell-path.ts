import { writeView, type CellRef } from '../../state/view-state.ts'

/** Where a cell is looked at: in the grid, with the panel that tells where it came from. */
export function cellPath(cell: CellRef): string {
  return `/?${writeView({ sort: null, conditions: [], sql: null, cell, panel: true }).toString()}`
}
