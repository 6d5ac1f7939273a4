import type { PrunableRuns } from '../../store/stored-run.ts'

/** What `colophon runs prune` removed, or with `dry_run` would remove. */
export interface PrunedRunsAnswer {
  readonly runs: number
  /** Cells that failed in these runs. */
  readonly failures: number
  readonly dry_run: boolean
}

/** Turns what was or can be removed into its wire form. */
export function toPrunedRunsAnswer(
  { runs, failures }: PrunableRuns,
  { dryRun }: { readonly dryRun: boolean },
): PrunedRunsAnswer {
  return { runs, failures, dry_run: dryRun }
}
