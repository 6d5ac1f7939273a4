import type { ChartState } from '../../named/stored-chart.ts'
import type { PresentName } from './present-view.ts'

/** Returns a chart with the present names of fields, null for those that are removed. */
export function presentChart({ group, split, total, period }: ChartState, present: PresentName): ChartState {
  const named = (name: string | null): string | null => (name === null ? null : present(name))
  return { group: named(group), split: named(split), total: named(total), period }
}
