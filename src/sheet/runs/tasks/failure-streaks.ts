import { FailureStreak } from '../../../derivation/failure-streak.ts'
import type { StoredRun } from '../../../store/stored-run.ts'
import type { Sheet } from '../../sheet.ts'

/**
 * The runs whose streaks are kept. One run of a sheet executes at a time; a few that have ended may have tasks under
 * way.
 */
const KEPT = 8

const STREAKS = new WeakMap<Sheet, Map<string, FailureStreak>>()

/** Returns the failures in a row of a run that this process has seen, shared by all of its tasks here. */
export function failureStreakOf(
  sheet: Sheet,
  { id, stopAfterFailures }: Pick<StoredRun, 'id' | 'stopAfterFailures'>,
): FailureStreak {
  const streaks = STREAKS.get(sheet) ?? new Map<string, FailureStreak>()
  STREAKS.set(sheet, streaks)
  const known = streaks.get(id)
  if (known !== undefined) return known
  const [oldest] = streaks.keys()
  if (oldest !== undefined && streaks.size === KEPT) streaks.delete(oldest)
  const streak = new FailureStreak(stopAfterFailures)
  streaks.set(id, streak)
  return streak
}
