/** States of pending cells. */
export type WorkState = 'missing' | 'stale' | 'failed'

/** The state of a derived cell (D32). */
export type CellState = WorkState | 'fresh' | 'overridden'

/** The states by which records can be selected: those that users see ({@link shownState}). */
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

/** The numbers of pending cells of a derived field by the state that users see. */
export type ReadyCounts = Readonly<Record<WorkState, number>>

/** Counters of the pending cells of a derived field: all, and of these the blocked ones. */
export interface PendingCounters extends ReadyCounts {
  readonly blocked: number
  readonly blockedStale: number
  readonly blockedFailed: number
}

/** Returns the numbers of pending cells that are not blocked: those that a run computes (D32). */
export function readyCounts(counters: PendingCounters): ReadyCounts {
  const { missing, stale, failed, blocked, blockedStale, blockedFailed } = counters
  return {
    missing: missing - (blocked - blockedStale - blockedFailed),
    stale: stale - blockedStale,
    failed: failed - blockedFailed,
  }
}
