import type { LogicalType } from '../../contract/contract.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { hasPointGroupsOnly, type ColumnType } from './column-type.ts'
import { ambiguousDateText, ambiguousGroupText, type Show } from '../notation/ambiguity-text.ts'
import { readMoment } from '../../contract/values/foreign-moment.ts'
import { withoutGroups } from '../../contract/values/foreign-number.ts'
import type { ColumnSketch } from './infer-column.ts'
import type { Kind } from '../columns/value-kind.ts'
import type { FileProfile } from './infer-profile.ts'
import type { CellKind } from '../io/raw-records.ts'
import { textOf, type Occurrence } from '../notation/occurrence.ts'

/** The share of values from which exceptions are named. */
const MOST = 0.9

const PLURALS: Readonly<Record<Kind, string>> = {
  integer: 'integers',
  number: 'numbers',
  boolean: 'booleans',
  date: 'dates',
  timestamp: 'timestamps',
  time: 'times',
  array: 'arrays',
  object: 'objects',
  text: 'texts',
}

/** Returns warnings about a column for a reader who knows the data; each a sentence without a full stop. */
export function columnWarnings(
  column: ColumnSketch,
  columnType: ColumnType,
  file: Pick<FileProfile['file'], 'cells' | 'unit'> & { readonly decimalComma: Occurrence | null },
): string[] {
  const { type } = columnType
  if (column.count === 0) return ['no values: read as text']
  const show: Show = ({ value, at }) => `${showValue(value)} in ${file.unit} ${at}`
  const warnings =
    type === 'string'
      ? [
          pointGroups(column, file.decimalComma, show),
          ...[
            nearlyAll,
            lossy,
            infinite,
            ambiguousGroup,
            decimalCommas,
            withUnits,
            unsettledDates,
            padded,
            otherMoment,
            mixed,
          ].map((warning) => warning(column, show)),
        ]
      : [
          missing(column, show),
          grouped(column, type, show),
          moments(column, columnType, show),
          local(column, type, show),
          type === 'timestamp' && file.cells === 'cells' ? 'a spreadsheet has no offsets: read as UTC' : null,
          inexact(column, file.cells, show),
        ]
  return warnings.filter((warning) => warning !== null)
}

/** Returns the number of values that are neither blank nor a word for no value. */
function present({ count, blank, notation }: ColumnSketch): number {
  return count - blank - (notation.missing?.count ?? 0)
}

/** Warns about a column of numbers with one word. */
function nearlyAll(column: ColumnSketch, show: Show): string | null {
  const majority = majorityOf(column)
  if (majority === null) return null
  const { what, count, among } = majority
  const { notation, kinds } = column
  const others = [...kinds].filter(([kind]) => kind !== 'text' && !among.has(kind)).map(([, other]) => other)
  const [first] = [...others, notation.otherText, among.has('date') ? notation.grouped : notation.moments]
    .filter((occurrence) => occurrence !== null)
    .toSorted((a, b) => a.at - b.at)
  return first === undefined
    ? null
    : `${count} of ${present(column)} values are ${what}, but not ${show(first)}: kept as text`
}

interface Majority {
  readonly what: string
  readonly count: number
  /** The kinds that belong to the majority. */
  readonly among: ReadonlySet<Kind>
}

/** Returns the kind of most values; integers count as numbers if there are numbers. */
function majorityOf(column: ColumnSketch): Majority | null {
  const { kinds, notation } = column
  const countOf = (kind: Kind): number => kinds.get(kind)?.count ?? 0
  const numbers = countOf('integer') + countOf('number')
  const candidates: Majority[] = [
    {
      what: PLURALS[countOf('number') > 0 ? 'number' : 'integer'],
      count: numbers + (numbers > 0 ? (notation.grouped?.count ?? 0) : 0),
      among: new Set<Kind>(['integer', 'number']),
    },
    ...(['boolean', 'date', 'timestamp', 'time', 'array', 'object'] as const).map((kind) => ({
      what: PLURALS[kind],
      count: countOf(kind),
      among: new Set<Kind>([kind]),
    })),
  ]
  return candidates.find(({ count }) => count > 0 && count >= present(column) * MOST) ?? null
}

function lossy({ lossy: occurrence }: ColumnSketch, show: Show): string | null {
  return occurrence === null
    ? null
    : `more digits than a number keeps: ${show(occurrence)}${andMore(occurrence)}: kept as text`
}

function infinite({ notation, kinds }: ColumnSketch, show: Show): string | null {
  if (notation.infinite === null || !(kinds.has('integer') || kinds.has('number'))) return null
  return `${show(notation.infinite)}${andMore(notation.infinite)} is an infinity, which no number field takes: kept as text`
}

function ambiguousGroup({ notation }: ColumnSketch, show: Show): string | null {
  const text = ambiguousGroupText(notation, show)
  return text === null ? null : `${text}: kept as text`
}

/** Warns about points that may separate thousands, in a file with decimal commas. */
function pointGroups(column: ColumnSketch, decimalComma: Occurrence | null, show: Show): string | null {
  const { pointGroup } = column
  if (pointGroup === null || decimalComma === null || !hasPointGroupsOnly(column)) return null
  if (hasDecimalCommas(column)) return null
  const text = textOf(pointGroup)
  return `${show(pointGroup)} may be ${Number(text.replace('.', ''))} or ${Number(text)}, since the file has decimal commas, as ${show(decimalComma)}: kept as text`
}

/** Whether nearly all values of a column can be numbers with decimal commas, and one must be. */
export function hasDecimalCommas(column: ColumnSketch): boolean {
  const { notation, kinds, pointGroup } = column
  if (notation.decimalComma === null) return false
  const others =
    (kinds.get('integer')?.count ?? 0) + (pointGroup?.count ?? 0) + (notation.grouped?.count ?? 0)
  return notation.decimalComma.count + others >= present(column) * MOST
}

function decimalCommas(column: ColumnSketch, show: Show): string | null {
  const { decimalComma } = column.notation
  if (decimalComma === null || !hasDecimalCommas(column)) return null
  return `numbers with a decimal comma, as ${show(decimalComma)}: kept as text`
}

function withUnits(column: ColumnSketch, show: Show): string | null {
  const { withUnit } = column.notation
  if (withUnit === null || withUnit.count < present(column) * MOST) return null
  return `numbers with a unit, as ${show(withUnit)}: kept as text`
}

function unsettledDates(column: ColumnSketch, show: Show): string | null {
  const { kinds, notation } = column
  const dates = (kinds.get('date')?.count ?? 0) + (kinds.get('timestamp')?.count ?? 0)
  if (notation.moments === null || notation.moments.count + dates < present(column) * MOST) return null
  const text = ambiguousDateText(notation, show)
  if (text !== null) return `kept as text: ${text}`
  if (majorityOf(column) !== null) return null
  return `dates or times as ${show(notation.moments)}, but not all values are: kept as text`
}

function padded(column: ColumnSketch, show: Show): string | null {
  const { padded: occurrence, kinds } = column
  if (occurrence === null || occurrence.count + (kinds.get('integer')?.count ?? 0) < present(column))
    return null
  return `digits with zeros or a plus sign before them, as ${show(occurrence)}: kept as text`
}

function otherMoment(column: ColumnSketch, show: Show): string | null {
  const { otherMoment: occurrence } = column
  if (occurrence === null || occurrence.count < present(column) * MOST) return null
  return `dates without a century or a calendar day, as ${show(occurrence)}: kept as text`
}

function mixed({ kinds, lossy: known }: ColumnSketch): string | null {
  const others = [...kinds].filter(([, { value }]) => typeof value !== 'string')
  if (others.length === 0 || known !== null) return null
  return `values of different types (${[...kinds.keys()].map((kind) => PLURALS[kind]).join(', ')}): kept as text, in JSON`
}

function missing({ notation: { missing: occurrence } }: ColumnSketch, show: Show): string | null {
  return occurrence === null ? null : `${show(occurrence)}${andMore(occurrence)}: read as no value`
}

function grouped({ notation }: ColumnSketch, type: LogicalType, show: Show): string | null {
  if (notation.grouped === null || (type !== 'integer' && type !== 'number')) return null
  const number = Number(withoutGroups(textOf(notation.grouped)))
  return `separators between thousands: ${show(notation.grouped)} is read as ${number}`
}

function moments({ notation }: ColumnSketch, { type, reading }: ColumnType, show: Show): string | null {
  const first = notation.ambiguous ?? notation.moments
  if (first === null || (type !== 'date' && type !== 'timestamp')) return null
  const value = readMoment(type, textOf(first), reading.dateOrder)
  const evidence = notation.ambiguous === null ? null : (notation.dmy ?? notation.mdy)
  const why = evidence === null ? '' : `, by the order of ${show(evidence)}`
  return `${show(first)} is read as ${value}${why}`
}

function local({ notation, kinds }: ColumnSketch, type: LogicalType, show: Show): string | null {
  if (notation.local === null || type !== 'timestamp') return null
  const all =
    notation.late === null && !kinds.has('timestamp')
      ? '; all times are midnight: --type reads them as dates'
      : ''
  return `no offset in ${show(notation.local)}: read as UTC${all}`
}

/** Warns about integers of which spreadsheet programs keep 15 digits and write zeros for the rest. */
function inexact({ unsafe }: ColumnSketch, cells: CellKind, show: Show): string | null {
  return unsafe === null || cells !== 'cells'
    ? null
    : `${show(unsafe)}${andMore(unsafe)} has more digits than spreadsheets keep: some may be lost in the file`
}

function andMore({ count }: Occurrence): string {
  return count === 1 ? '' : `, and ${count - 1} more`
}
