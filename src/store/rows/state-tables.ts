import type { FilterState } from '../cell-state.ts'
import { FAILED, MISSING, STALE } from './stored-rows.ts'

/** A partial index of cells in states that few cells are in. */
export type StateIndex = '$todo_known' | '$todo_blocked' | '$cell_overridden'

/** The rows of a table of cells that are in a state, in the SQL of both engines. */
export interface StateRows {
  readonly table: '$cell' | '$todo'
  /** A condition on the columns of the table, named `cell`. */
  readonly where: string
  /** The partial index that has the rows of the first term of the condition; null for the primary key. */
  readonly index: StateIndex | null
}

/**
 * Conditions on `$todo` and `$cell` by the state that users see (`shownState`), of which a cell has one. A pending cell is in
 * `$todo`, whichever of the two has a row for it.
 */
export const STATE_ROWS: Readonly<Record<FilterState, StateRows>> = {
  missing: { table: '$todo', where: `cell.state = ${MISSING} AND NOT cell.blocked`, index: null },
  stale: {
    table: '$todo',
    where: `cell.state <> ${MISSING} AND cell.state = ${STALE} AND NOT cell.blocked`,
    index: '$todo_known',
  },
  failed: {
    table: '$todo',
    where: `cell.state <> ${MISSING} AND cell.state = ${FAILED} AND NOT cell.blocked`,
    index: '$todo_known',
  },
  blocked: { table: '$todo', where: 'cell.blocked', index: '$todo_blocked' },
  overridden: { table: '$cell', where: 'cell.hash IS NULL', index: '$cell_overridden' },
  fresh: {
    table: '$cell',
    where:
      'cell.hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "$todo" AS todo WHERE todo.target = cell.target AND todo.record = cell.record)',
    index: null,
  },
}

/** Creates the indexes that find the cells of states that few cells are in, in the SQL of both engines. */
export const STATE_INDEXES = `
  CREATE INDEX "$todo_known" ON "$todo" (target, state, record) WHERE state <> ${MISSING};
  CREATE INDEX "$todo_blocked" ON "$todo" (target, record) WHERE blocked;
  CREATE INDEX "$cell_overridden" ON "$cell" (target, record) WHERE hash IS NULL;
`
