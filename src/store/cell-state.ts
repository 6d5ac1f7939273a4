/** States in which a cell has work to do. */
export type WorkState = 'missing' | 'stale' | 'failed'

/** The state of a derived cell (D32). */
export type CellState = WorkState | 'fresh' | 'overridden'

/** The state as it is shown: a cell with work that no run can do because of an input is `blocked` (D32). */
export type ShownCellState = CellState | 'blocked'

export function shownState({
  state,
  blocked,
}: {
  readonly state: CellState
  readonly blocked: boolean
}): ShownCellState {
  return blocked ? 'blocked' : state
}
