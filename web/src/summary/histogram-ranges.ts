import type { FieldSummaryAnswer } from '../../../src/wire/records/summary.ts'
import type { FieldType } from '../api/contract.ts'
import type { Condition } from '../state/conditions.ts'

export type Histogram = NonNullable<FieldSummaryAnswer['histogram']>

/** A range of a histogram; `isOpen` if it excludes its last value. */
interface HistogramRange {
  readonly from: number | string
  readonly to: number | string
  readonly isOpen: boolean
  readonly count: number
  /** The condition that matches the range. */
  readonly condition: Omit<Condition, 'field'>
}

const DAY_MS = 86_400_000

/** Returns the ranges of a histogram with conditions that match the counted records. */
export function histogramRanges(
  type: FieldType,
  { from, to, step, counts }: Histogram,
): readonly HistogramRange[] {
  return counts.map((count, index) => {
    const isLast = index === counts.length - 1
    switch (type) {
      case 'integer': {
        const [first, last] = [
          Number(from) + index * step,
          isLast ? Number(to) : Number(from) + (index + 1) * step - 1,
        ]
        return closed(first, last, count)
      }
      case 'date': {
        const day = (steps: number): string =>
          new Date(Date.parse(`${from}`) + steps * DAY_MS).toISOString().slice(0, 10)
        return closed(day(index * step), isLast ? `${to}` : day((index + 1) * step - 1), count)
      }
      case 'timestamp': {
        const start = Date.parse(`${from}`)
        const moment = (ms: number): string => new Date(ms).toISOString()
        // The first whole millisecond of each range, or the end of the last one.
        const edge = (place: number): string => moment(Math.ceil(start + place * step * 1000 - 1e-4))
        const range = [edge(index), isLast ? moment(Date.parse(`${to}`) + 1) : edge(index + 1)] as const
        const shownTo = isLast ? `${to}` : range[1]
        return {
          from: range[0],
          to: shownTo,
          isOpen: !isLast,
          count,
          condition: { is: 'during', value: range },
        }
      }
      default: {
        if (isLast) return closed(edgeOf(Number(from), step, index), Number(to), count)
        const range = [edgeOf(Number(from), step, index), edgeOf(Number(from), step, index + 1)] as const
        return {
          from: range[0],
          to: range[1],
          isOpen: true,
          count,
          condition: { is: 'within', value: range },
        }
      }
    }
  })
}

function closed<T extends number | string>(from: T, to: T, count: number): HistogramRange {
  const condition: HistogramRange['condition'] =
    from === to ? { is: 'equals', value: from } : { is: 'between', value: [from, to] }
  return { from, to, isOpen: false, count, condition }
}

const MAX_STEPS = 8

/**
 * Returns the least number that the server counts to a range: it computes `(value - from) / step`, which may differ
 * from `from + index * step` by floating-point rounding.
 */
function edgeOf(from: number, step: number, index: number): number {
  const isIn = (value: number): boolean => (value - from) / step >= index
  let edge = from + index * step
  for (let count = 0; count < MAX_STEPS && !isIn(edge); count += 1) edge = neighbour(edge, 1n)
  for (let count = 0; count < MAX_STEPS && index > 0; count += 1) {
    const before = neighbour(edge, -1n)
    if (!isIn(before)) break
    edge = before
  }
  return edge
}

const bits = new DataView(new ArrayBuffer(8))

/** Returns the next greater or smaller floating-point number. */
function neighbour(value: number, by: 1n | -1n): number {
  if (value === 0) return Number(by) * Number.MIN_VALUE
  bits.setFloat64(0, value)
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? by : -by))
  return bits.getFloat64(0)
}
