import type { Histogram } from '../../sheet-store.ts'

/** The most frequent values that a summary lists when it does not search. */
export const TOP = 10

/** Longer texts are not listed as values to pick from. */
export const LONGEST_VALUE = 200

const RANGES = 20
const DAY = 86_400

/** The measure of the values of a type; positions of dates and timestamps are in seconds since 1970. */
interface Scale {
  /** The least distance of two values; 0 for a continuous scale. */
  readonly unit: number
  /** The step of a histogram is reported in this unit of the scale. */
  readonly perStep: number
  show(position: number): string | number
}

export type ScaledType = 'integer' | 'number' | 'date' | 'timestamp'

const SCALES: Readonly<Record<ScaledType, Scale>> = {
  integer: { unit: 1, perStep: 1, show: (value) => value },
  number: { unit: 0, perStep: 1, show: (value) => value },
  date: {
    unit: DAY,
    perStep: DAY,
    show: (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10),
  },
  timestamp: { unit: 0, perStep: 1, show: (seconds) => new Date(Math.round(seconds * 1000)).toISOString() },
}

/** The ranges of a histogram, of equal width in the unit of the scale. */
export interface Ranges {
  readonly step: number
  readonly count: number
  /** Returns the histogram of rows of the index of a range, null for none, and its number of values. */
  histogram(rows: Iterable<readonly unknown[]>): Histogram
}

/**
 * Divides the extent of a type's values into ranges of whole units, so that each can hold as many values as the others; few
 * values have a range each. Returns null for an extent without a finite width.
 */
export function rangesOf(type: ScaledType, least: number, greatest: number): Ranges | null {
  const { unit, perStep, show } = SCALES[type]
  const { step, count } = divide(greatest - least, unit)
  if (!Number.isFinite(step)) return null
  return {
    step,
    count,
    histogram: (rows) => {
      const counts = Array<number>(count).fill(0)
      for (const [range = null, number] of rows) if (range !== null) counts[Number(range)] = Number(number)
      return { from: show(least), to: show(greatest), step: step / perStep, counts }
    },
  }
}

function divide(width: number, unit: number): { readonly step: number; readonly count: number } {
  if (unit === 0) return width === 0 ? { step: 1, count: 1 } : { step: width / RANGES || 1, count: RANGES }
  const values = width / unit + 1
  const perRange = Math.ceil(values / RANGES)
  return { step: perRange * unit, count: Math.ceil(values / perRange) }
}
