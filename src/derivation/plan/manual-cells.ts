import { Planner } from './planner.ts'
import type { PlanRequest, TargetPlan } from '../run-request.ts'

/**
 * Counts the cells of a run that have a value written by hand, by target; targets without any are left out. Reads single records only if
 * the request names some.
 */
export async function manualCells(request: PlanRequest): Promise<ReadonlyMap<string, number>> {
  const { records, signal, store } = request
  const { total, lastKey, lastSeq, targets: states } = await store.status()
  const counts = new Map(
    states.flatMap(({ field, overridden }) =>
      request.targets.has(field) && overridden > 0 ? [[field, overridden] as const] : [],
    ),
  )
  if (records === null || counts.size === 0) return counts
  const targets = new Set(counts.keys())
  counts.clear()
  const planner = new Planner({ ...request, targets }, { total, records, lastKey, lastSeq }, signal)
  for (const derivation of planner.derivations) {
    for await (const items of planner.every({ ...derivation, inputs: [] }, records)) {
      for (const { target, state } of items.flatMap(({ cells }) => cells)) {
        if (state === 'overridden') counts.set(target, (counts.get(target) ?? 0) + 1)
      }
    }
  }
  return counts
}

/** Adds up counts. */
export function sumOf(counts: ReadonlyMap<string, number>): number {
  return counts.values().reduce((sum, count) => sum + count, 0)
}

/** Returns the members of a plan about values written by hand; zero counts are left out. */
export function manualCounts({
  all,
  overwritten,
}: {
  readonly all: number
  readonly overwritten: number
}): Pick<TargetPlan, 'manualLeft' | 'manualOverwritten'> {
  const left = Math.max(0, all - overwritten)
  return {
    ...(left > 0 && { manualLeft: left }),
    ...(overwritten > 0 && { manualOverwritten: overwritten }),
  }
}
