import type { RecordedUsage, UsedAmounts } from '../../store/cell-work.ts'
import type { RunId } from '../../store/stored-run.ts'
import type { StepResult } from '../definition/derivation-kind.ts'

/** The results of a step that a run computed; those in the cache do not count. */
export interface StepCounts {
  /** The derivation file. */
  readonly derivation: string
  /** Its place in the file, from 1. */
  readonly step: number
  readonly kind: string
  readonly results: number
  readonly accepted: number
  /** Dollars of the calls whose cost is known. */
  readonly cost: number
  /** Calls whose cost is not known. */
  readonly unpricedCalls: number
}

/** Returns the key of the counts of a run's steps; the store removes them with the run. */
export function runStepsKey(run: RunId): string {
  return `run ${run} steps`
}

/** Returns what results of steps add to the counts of a run. */
export function usageOfSteps(run: RunId, results: readonly StepResult[]): UsedAmounts[] {
  return results.map(({ step: { derivation, number }, isAccepted, cost }) => {
    const nameOf = (what: string): string =>
      JSON.stringify([derivation.file, number, derivation.kind.name, what])
    return {
      key: runStepsKey(run),
      amounts: {
        [nameOf('results')]: 1,
        [nameOf('accepted')]: isAccepted ? 1 : 0,
        [nameOf('cost')]: cost ?? 0,
        ...(cost === null && { [nameOf('unpricedCalls')]: 1 }),
      },
    }
  })
}

/** Returns the counts of a run's steps, by file and place. */
export function stepCountsIn(usage: RecordedUsage | null): readonly StepCounts[] {
  const counts = new Map<string, StepCounts>()
  for (const [name, amount] of Object.entries(usage?.amounts ?? {})) {
    const [derivation, step, kind, what] = JSON.parse(name) as [string, number, string, string]
    const key = JSON.stringify([derivation, step, kind])
    const known = counts.get(key) ?? {
      derivation,
      step,
      kind,
      results: 0,
      accepted: 0,
      cost: 0,
      unpricedCalls: 0,
    }
    counts.set(key, { ...known, [what]: what === 'cost' ? Math.round(amount * 1e9) / 1e9 : amount })
  }
  const all = [...counts.values()]
  return all.toSorted((one, other) =>
    one.derivation === other.derivation ? one.step - other.step : one.derivation < other.derivation ? -1 : 1,
  )
}
