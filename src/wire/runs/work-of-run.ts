/** Counts of a run. */
interface RunCounts {
  readonly done: number
  readonly total: number
  readonly skipped: number
}

/** The progress of a run, in cells; of an import in records. */
export interface RunWork {
  readonly done: number
  readonly total: number
}

/** Returns the progress of a run without the cells that it skips: one that computes 5 cells of 100,000 begins at 0 of 5. */
export function workOfRun({ done, total, skipped }: RunCounts): RunWork {
  return { done: done - skipped, total: total - skipped }
}
