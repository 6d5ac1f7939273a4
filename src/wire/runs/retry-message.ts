import type { RunPlanAnswer } from './materialize.ts'

/** Describes the failed cells of a plan that the run does not retry yet; null for none. `formatTime` formats a time in ISO 8601. */
export function retryMessage(
  { targets }: Pick<RunPlanAnswer, 'targets'>,
  formatTime = (at: string): string => `on ${at}`,
): string | null {
  const all = Object.values(targets).flatMap(({ retry_later: later }) => later ?? [])
  const count = all.reduce((sum, { cells }) => sum + cells, 0)
  if (count === 0) return null
  const next = all.flatMap((later) => later.next ?? []).toSorted()[0]
  const cells = count === 1 ? '1 failed cell is' : `${count.toLocaleString('en')} failed cells are`
  return next === undefined
    ? `${cells} not retried (retry_failed_after).`
    : `${cells} not retried yet, the first ${formatTime(next)}.`
}
