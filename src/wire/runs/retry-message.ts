import type { RunPlanAnswer } from './materialize.ts'

/** A sentence about the failed cells that a run does not try again yet; null when there are none. */
export function retryWords({ targets }: Pick<RunPlanAnswer, 'targets'>): string | null {
  const all = Object.values(targets).flatMap(({ retry_later: later }) => later ?? [])
  const count = all.reduce((sum, { cells }) => sum + cells, 0)
  if (count === 0) return null
  const next = all.flatMap((later) => later.next ?? []).toSorted()[0]
  const cells = count === 1 ? '1 failed cell is' : `${count} failed cells are`
  return next === undefined
    ? `${cells} not tried again, as retry_failed_after says.`
    : `${cells} not tried again yet, the first on ${next}.`
}
