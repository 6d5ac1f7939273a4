import { formatValue } from '../../values/format-value.ts'
import { isNumeric, type ResultColumn, type ResultRow } from '../table/result-columns.ts'
import { timeOf } from './time-axis.ts'

export type Chart = BarsChart | LineChart

export interface BarsChart {
  readonly kind: 'bars'
  readonly category: string
  readonly number: string
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly label: string
  /** Null for no value. */
  readonly value: number | null
}

export interface LineChart {
  readonly kind: 'line'
  readonly time: string
  readonly number: string
  /** In order of time. */
  readonly points: readonly Point[]
}

export interface Point {
  /** In milliseconds since 1970. */
  readonly at: number
  /** The time as in the result. */
  readonly label: string
  readonly value: number
}

const MAX_BARS = 50

/** Chooses a chart for a result: one number by a time, or by a category with few values; null for others. */
export function chooseChart(columns: readonly ResultColumn[], rows: readonly ResultRow[]): Chart | null {
  const [number, ...otherNumbers] = columns.filter(isNumeric)
  const [by, ...others] = columns.filter((column) => !isNumeric(column))
  if (number === undefined || by === undefined || otherNumbers.length > 0 || others.length > 0) return null
  return lineOf(by, number, rows) ?? barsOf(by, number, rows)
}

function lineOf(by: ResultColumn, number: ResultColumn, rows: readonly ResultRow[]): LineChart | null {
  // A code of four digits looks like a year unless the contract has its type.
  if (by.field?.type === 'string') return null
  const points: Point[] = []
  for (const row of rows) {
    const [label, value] = [row[by.name], row[number.name]]
    // Rows without a time or value are omitted.
    if (label === null || value === null) continue
    const at = timeOf(label)
    if (at === null || typeof label !== 'string' || typeof value !== 'number') return null
    points.push({ at, label, value })
  }
  if (points.length < 2) return null
  return { kind: 'line', time: by.name, number: number.name, points: points.toSorted((a, b) => a.at - b.at) }
}

function barsOf(by: ResultColumn, number: ResultColumn, rows: readonly ResultRow[]): BarsChart | null {
  if (rows.length === 0 || rows.length > MAX_BARS || by.type === 'array' || by.type === 'object') return null
  const bars = rows.map((row) => {
    const [label, value] = [row[by.name], row[number.name]]
    return {
      label: label === null ? 'no value' : formatValue(by.type, label),
      value: typeof value === 'number' ? value : null,
    }
  })
  return { kind: 'bars', category: by.name, number: number.name, bars }
}

/** Describes a chart in a sentence, as its accessible name. */
export function describeChart(chart: Chart): string {
  const places = chart.kind === 'bars' ? chart.bars : chart.points
  const known = places.filter((place): place is Point => place.value !== null)
  if (known.length === 0) return `${chart.number}: no values`
  const least = known.reduce((a, b) => (b.value < a.value ? b : a))
  const most = known.reduce((a, b) => (b.value > a.value ? b : a))
  const range = `from ${formatValue(null, least.value)} (${least.label}) to ${formatValue(null, most.value)} (${most.label})`
  return chart.kind === 'bars'
    ? `Bars: ${chart.number} by ${chart.category}, ${range}`
    : `Line: ${chart.number} by ${chart.time}, ${chart.points.length} points, ${range}`
}
