import type { LogicalType } from '../../contract/contract.ts'
import type { DateOrder } from '../../contract/values/foreign-moment.ts'
import type { ColumnSketch } from './infer-column.ts'
import type { Kind } from '../columns/value-kind.ts'
import { typeOfKinds } from './shape-sketch.ts'
import type { Reading } from '../notation/notation-sketch.ts'
import type { CellKind } from '../io/raw-records.ts'
import type { Occurrence } from '../notation/occurrence.ts'

/** The type of a column, and how its texts are converted to it. */
export interface ColumnType {
  readonly type: LogicalType
  readonly reading: Reading
}

const MOMENTS: ReadonlySet<Kind> = new Set<Kind>(['date', 'timestamp'])
const NUMBERS: ReadonlySet<Kind> = new Set<Kind>(['integer', 'number'])

/** Facts about a column from other sources. */
export interface ColumnContext {
  readonly cells: CellKind
  /** The requested order of dates, or null. */
  readonly dateOrder: DateOrder | null
  /** A number with a decimal comma if a column of the file has such numbers; else null. */
  readonly decimalComma: Occurrence | null
}

/** Returns the only type that accepts all values of a column. */
export function typeOfColumn(
  column: ColumnSketch,
  { cells, dateOrder, decimalComma }: ColumnContext,
): ColumnType {
  const { kinds, notation } = column
  const reading = notation.reading(dateOrder, kinds.has('number'))
  const found = new Set(kinds.keys())
  const texts = kinds.get('text')?.count ?? 0
  const others = new Set([...found].filter((kind) => kind !== 'text'))
  const type = (): LogicalType => {
    if (texts > 0 && texts === notation.moments?.count && others.isSubsetOf(MOMENTS)) {
      if (!notation.isSettled(reading)) return 'string'
      return notation.timed !== null || others.has('timestamp') ? 'timestamp' : 'date'
    }
    if (texts > 0 && texts === notation.grouped?.count && others.isSubsetOf(NUMBERS)) {
      if (!reading.commaGroups) return 'string'
      return notation.fraction !== null || others.has('number') ? 'number' : 'integer'
    }
    if (decimalComma !== null && hasPointGroupsOnly(column)) return 'string'
    // A date in a spreadsheet may be midnight among other timestamps.
    if (cells === 'cells' && found.size === 2 && others.size === 2 && others.isSubsetOf(MOMENTS))
      return 'timestamp'
    return typeOfKinds(found) ?? 'string'
  }
  return { type: type(), reading }
}

/** Whether every point in a column's numbers may separate thousands. */
export function hasPointGroupsOnly({ kinds, pointGroup }: ColumnSketch): boolean {
  return pointGroup !== null && pointGroup.count === kinds.get('number')?.count
}
