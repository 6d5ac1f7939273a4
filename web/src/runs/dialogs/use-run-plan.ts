import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { RunPlanAnswer } from '../../../../src/wire/runs/materialize.ts'
import type { RunOrder } from '../../../../src/client/client.ts'
import { server } from '../../api/server.ts'
import { useSettled } from '../../ui/use-settled.ts'

const SETTLE_MS = 300

interface ShownPlan {
  /** Null until the first plan is loaded. */
  readonly plan: RunPlanAnswer | null
  /** Whether the plan is of the present order. */
  readonly isCurrent: boolean
  readonly error: Error | null
}

/** Loads the plan of an order, debounced. */
export function useRunPlan(order: RunOrder, actor: string, isValid: boolean): ShownPlan {
  const text = JSON.stringify(order)
  const settled = useSettled(text, SETTLE_MS)
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['plan', settled, actor],
    queryFn: () => server.runs.plan(JSON.parse(settled) as RunOrder, { actor }),
    enabled: isValid,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  // Also while it is loaded again after a change of the sheet: a button that is disabled for that moment would lose a click.
  const isSettled = isValid && settled === text && !isPlaceholderData
  return { plan: data ?? null, isCurrent: isSettled, error: settled === text ? error : null }
}
