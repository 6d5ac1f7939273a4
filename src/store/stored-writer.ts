import type { RunId } from './stored-run.ts'

/** The writers of present values. */
export interface WriterCounts {
  /** The actors with the most cells, and the number of cells whose present value each has written. */
  readonly actors: readonly { readonly actor: string; readonly cells: number }[]
  /** The latest run that has written present values; null for none. */
  readonly latestRun: { readonly run: RunId; readonly actor: string; readonly cells: number } | null
}

/** The writer of the present value of a cell. */
export interface CellWriter {
  readonly recordId: string
  readonly field: string
  readonly actor: string
  /** The run in which it was written; null for none. */
  readonly run: RunId | null
}
