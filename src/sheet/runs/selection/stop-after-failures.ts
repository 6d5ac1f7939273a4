/**
 * The default bound of failures in a row for runs that people and agents start; over REST there is none by default
 * (H7).
 */
export const USUAL_STOP_AFTER_FAILURES = 20

/** Returns the failures in a row that end a run; null for none. */
export function stopAfterOf({
  stopAfterFailures = null,
}: {
  readonly stopAfterFailures?: number | null
}): number | null {
  return stopAfterFailures === 0 ? null : stopAfterFailures
}
