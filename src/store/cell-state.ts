/** States in which a cell has work to do. */
export type WorkState = 'missing' | 'stale' | 'failed'

/** The state of a derived cell (D32). */
export type CellState = WorkState | 'fresh' | 'overridden'
