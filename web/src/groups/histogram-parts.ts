import type { Histogram } from '../summary/histogram-ranges.ts'
import type { GroupValue } from './group-conditions.ts'
import type { SplitValue } from './group-rows.ts'

/** A part of a bar. */
export interface BarPart {
  /** The place of the value among those of the second field, which has the colour; null for all other values. */
  readonly place: number | null
  readonly label: string
  readonly count: number
}

/** Divides the bars of a histogram by the values of a second field, in their order; other values are last. */
export function histogramParts(
  { counts, splits = [] }: Histogram,
  values: readonly SplitValue[],
): readonly (readonly BarPart[])[] {
  const byValue = new Map<GroupValue, readonly number[]>(splits.map((split) => [split.value, split.counts]))
  const listed = values.filter(({ value }) => byValue.has(value))
  return counts.map((count, range) => {
    const parts = listed.map(({ value, place, label }): BarPart => ({
      place,
      label,
      count: byValue.get(value)?.[range] ?? 0,
    }))
    const rest = count - parts.reduce((sum, part) => sum + part.count, 0)
    const others: BarPart = { place: null, label: 'other values', count: rest }
    return [...parts, others].filter((part) => part.count > 0)
  })
}
