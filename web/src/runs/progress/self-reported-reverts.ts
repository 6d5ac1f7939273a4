import type { RunSummary } from '../../../../src/wire/runs/runs.ts'

/** Runs that somebody takes back on this page, in a dialog that tells what came of it. */
const reverted = new Set<string>()

export function reportsItself(runId: string): () => void {
  reverted.add(runId)
  // The end of the revert may be heard of a little after its answer.
  return () => void setTimeout(() => reverted.delete(runId), 5000)
}

/** Whether the end of a run is told by a dialog. */
export function isReportedElsewhere({ kind, reverts, state }: RunSummary): boolean {
  return kind === 'revert' && state === 'finished' && reverts !== null && reverted.has(reverts)
}
