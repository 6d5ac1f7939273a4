import type { SheetField } from '../api/contract.ts'
import { scalarText } from '../filter/condition-text.ts'
import type { Condition, Scalar } from '../state/conditions.ts'
import { formatCount } from '../ui/format.ts'
import { histogramRanges, type Histogram } from './histogram-ranges.ts'
import { exactPlace, percent, recordsText, shortened, shortEnds } from './summary-text.ts'
import type { CountedSummary } from './use-summary.ts'

/** The chart in a column head. */
export interface SummaryChart {
  /** `bars` side by side, `segments` of one bar, or only a caption. */
  readonly kind: 'bars' | 'segments' | 'plain'
  readonly parts: readonly Part[]
  /** Records without a value; null for none. */
  readonly empty: Part | null
  readonly left: string
  readonly right: string
  /** The accessible name. */
  readonly name: string
}

/** A bar or a segment. */
export interface Part {
  readonly key: string
  readonly look: 'value' | 'others' | 'empty'
  /** The fraction of the total or of the highest bar, from 0 to 1. */
  readonly size: number
  readonly label: string
  readonly note: string
  /** The condition that a click adds; null if it would change nothing or match nothing. */
  readonly condition: Condition | null
}

/** Returns the chart of a summary; null without records. */
export function summaryChartOf(field: SheetField, counted: CountedSummary): SummaryChart | null {
  const { count, summary } = counted
  if (count === 0) return null
  const { nulls, histogram, top, distinct } = summary
  const empty = emptyPart(field, nulls, count)
  const emptyText = nulls === 0 ? '' : `, ${percent(nulls, count)} empty`
  const plain = (left: string): SummaryChart => {
    const right = nulls === 0 || nulls === count ? '' : `${percent(nulls, count)} empty`
    return { kind: 'plain', parts: [], empty, left, right, name: `${field.title}: ${left}${emptyText}` }
  }
  if (nulls === count) return plain('All empty')
  if (histogram !== undefined) return histogramPicture(field, counted, histogram, empty, emptyText)
  if (field.primaryKey) return plain('Unique')
  if (distinct === undefined || top === undefined)
    return plain(nulls === 0 ? 'All filled' : `${percent(count - nulls, count)} filled`)
  if (distinct === 0) return plain('No items')
  const isPicked = field.type !== 'array'
  if (isPicked && distinct === count - nulls && distinct > 1 && distinct > top.length) {
    return plain(field.unique ? 'Unique' : 'All different')
  }
  return isPicked ? segments(field, counted, empty, emptyText) : itemBars(field, counted, empty, emptyText)
}

function emptyPart({ name }: SheetField, nulls: number, count: number): Part | null {
  if (nulls === 0) return null
  return {
    key: 'empty',
    look: 'empty',
    size: nulls / count,
    label: 'Empty',
    note: noteOf(nulls, count),
    condition: nulls === count ? null : { field: name, is: 'empty', value: null },
  }
}

function noteOf(part: number, count: number): string {
  return `${recordsText(part)} · ${percent(part, count)}`
}

function histogramPicture(
  field: SheetField,
  { count, summary }: CountedSummary,
  histogram: Histogram,
  empty: Part | null,
  emptyText: string,
): SummaryChart {
  const { from, to, step, counts } = histogram
  const greatest = Math.max(...counts)
  const isOne = from === to
  const [left, end] = shortEnds(field, from, to)
  const right = isOne ? '' : end
  const parts = histogramRanges(field.type, histogram).map((range, index): Part => {
    const first = exactPlace(field, range.from, step)
    const last = exactPlace(field, range.to, step)
    return {
      key: `${index}`,
      look: 'value',
      size: range.count / greatest,
      label: first === last ? first : `${first} ${range.isOpen ? 'to under' : 'to'} ${last}`,
      note: noteOf(range.count, count),
      condition:
        range.count === 0 || range.count === count ? null : { field: field.name, ...range.condition },
    }
  })
  if (isOne) {
    const name = `${field.title}: ${emptyText === '' ? 'all' : 'otherwise'} ${left}${emptyText}`
    return oneBar(
      parts.map((part) => ({ ...part, size: 1 - summary.nulls / count })),
      empty,
      { left, right, name },
    )
  }
  return { kind: 'bars', parts, empty, left, right, name: `${field.title}: ${left} to ${right}${emptyText}` }
}

/** Returns all parts, including the empty one, as segments of one bar. */
function oneBar(
  parts: readonly Part[],
  empty: Part | null,
  caption: Pick<SummaryChart, 'left' | 'right' | 'name'>,
): SummaryChart {
  return { kind: 'segments', parts: empty === null ? parts : [...parts, empty], empty: null, ...caption }
}

function segments(
  field: SheetField,
  { count, summary: { nulls, top = [], distinct = 0 } }: CountedSummary,
  empty: Part | null,
  emptyText: string,
): SummaryChart {
  const values = top.map((each): Part => valuePart(field, each, count, each.count / count))
  const rest = count - nulls - top.reduce((sum, each) => sum + each.count, 0)
  const others = distinct - top.length
  const parts = rest === 0 ? values : [...values, othersPart(field, top, { rest, others, count })]
  const [first] = top
  if (first === undefined) {
    const left = `${formatCount(distinct)} long ${distinct === 1 ? 'text' : 'texts'}`
    return oneBar(parts, empty, { left, right: '', name: `${field.title}: ${left}${emptyText}` })
  }
  const left = shortened(scalarText(first.value as Scalar, field))
  const right = percent(first.count, count)
  const different = `${formatCount(distinct)} ${distinct === 1 ? 'value' : 'values'}`
  return oneBar(parts, empty, {
    left,
    right,
    name: `${field.title}: ${different}, most often ${left}, ${right}${emptyText}`,
  })
}

type Counted = NonNullable<CountedSummary['summary']['top']>[number]

function valuePart(field: SheetField, { value, count: part }: Counted, count: number, size: number): Part {
  const is = field.type === 'array' ? 'hasAny' : field.type === 'boolean' ? 'equals' : 'anyOf'
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value)
  const scalar = value as Scalar
  return {
    key: `${typeof value} ${JSON.stringify(value)}`,
    look: 'value',
    size,
    label: isScalar ? shortened(scalarText(scalar, field)) : shortened(JSON.stringify(value)),
    note: field.type === 'array' ? `${formatCount(part)} ×` : noteOf(part, count),
    condition:
      !isScalar || part === count
        ? null
        : { field: field.name, is, value: is === 'equals' ? scalar : [scalar] },
  }
}

function othersPart(
  { name }: SheetField,
  top: readonly Counted[],
  { rest, others, count }: { readonly rest: number; readonly others: number; readonly count: number },
): Part {
  return {
    key: 'others',
    look: 'others',
    size: rest / count,
    label:
      top.length === 0 ? 'Long texts' : `${formatCount(others)} other ${others === 1 ? 'value' : 'values'}`,
    note: noteOf(rest, count),
    // Without null in the list, records without a value would match too.
    condition:
      top.length === 0
        ? null
        : { field: name, is: 'noneOf', value: [...top.map(({ value }) => value as Scalar), null] },
  }
}

/** Items are bars, not segments: a record has any number of items, so they have no total. */
function itemBars(
  field: SheetField,
  { count, summary: { top = [], distinct = 0 } }: CountedSummary,
  empty: Part | null,
  emptyText: string,
): SummaryChart {
  const [first] = top
  const greatest = first?.count ?? 1
  const text = first === undefined ? '' : valuePart(field, first, count, 1).label
  const items = `${formatCount(distinct)} different ${distinct === 1 ? 'item' : 'items'}`
  return {
    kind: 'bars',
    parts: top.map((each) => valuePart(field, each, count, each.count / greatest)),
    empty,
    left: text,
    right: distinct > 1 ? `+${formatCount(distinct - 1)}` : '',
    name: `${field.title}: ${items}${text === '' ? '' : `, most often ${text}`}${emptyText}`,
  }
}
