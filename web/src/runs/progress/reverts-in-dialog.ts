import type { RunSummary } from '../../../../src/wire/runs/runs.ts'

/** Runs that are being reverted in a dialog of this page, which shows the result. */
const reverted = new Set<string>()

export function beginDialogRevert(runId: string): () => void {
  reverted.add(runId)
  // The end of the revert may arrive shortly after its response.
  return () => void setTimeout(() => reverted.delete(runId), 5000)
}

/** Whether a dialog shows the end of the run. */
export function isShownInDialog({ kind, reverts, state }: RunSummary): boolean {
  return kind === 'revert' && state === 'finished' && reverts !== null && reverted.has(reverts)
}
