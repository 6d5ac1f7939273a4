/** States of pending cells. */
export type WorkState = 'missing' | 'stale' | 'failed'

/** The state of a derived cell (D32). */
export type CellState = WorkState | 'fresh' | 'overridden'

/** The states by which records can be selected: those of D32, and `blocked` for pending cells that are blocked. */
export const FILTER_STATES = ['fresh', 'stale', 'missing', 'failed', 'overridden', 'blocked'] as const

export type FilterState = (typeof FILTER_STATES)[number]

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
