/** States of pending cells. */
export type WorkState = 'missing' | 'stale' | 'failed'

/** The state of a derived cell (D32). */
export type CellState = WorkState | 'fresh' | 'overridden'

/** The state that users see: a pending cell that no run can compute because of an input is `blocked` (D32). */
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
