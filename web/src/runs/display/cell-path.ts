import { writeView, type CellRef } from '../../state/view-state.ts'

/** Returns the URL of a cell with its provenance panel. */
export function cellPath(cell: CellRef): string {
  return `/?${writeView({ sort: null, conditions: [], sql: null, cell, panel: true }).toString()}`
}
