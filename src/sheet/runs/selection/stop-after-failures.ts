/** Failures in a row after which a run ends early where people and agents start it; REST only stops on request (H7). */
export const USUAL_STOP_AFTER_FAILURES = 20

/** Returns the failures in a row that end a run; null for none. */
export function stopAfterOf({
  stopAfterFailures = null,
}: {
  readonly stopAfterFailures?: number | null
}): number | null {
  return stopAfterFailures === 0 ? null : stopAfterFailures
}
