import type { PrunableRuns } from '../../store/stored-run.ts'

/** The output of `colophon runs prune`: the runs that it removed, or with `dry_run` would remove. */
export interface PrunedRunsAnswer {
  readonly runs: number
  /** Cells that failed in these runs. */
  readonly failures: number
  readonly dry_run: boolean
}

/** Converts the number of removed or removable runs to the wire format. */
export function toPrunedRunsAnswer(
  { runs, failures }: PrunableRuns,
  { dryRun }: { readonly dryRun: boolean },
): PrunedRunsAnswer {
  return { runs, failures, dry_run: dryRun }
}
