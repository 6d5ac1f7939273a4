import type { LogicalType } from '../../contract/contract.ts'
import type { DateOrder } from '../notation/foreign-moment.ts'
import type { ColumnSketch } from './infer-column.ts'
import type { Kind } from '../columns/value-kind.ts'
import { typeOfKinds } from './shape-sketch.ts'
import type { Reading } from '../notation/notation-sketch.ts'
import type { CellKind } from '../io/raw-records.ts'
import type { Occurrence } from '../notation/occurrence.ts'

/** The type of a column, and how its texts are read as values of that. */
export interface ColumnType {
  readonly type: LogicalType
  readonly reading: Reading
}

const MOMENTS: ReadonlySet<Kind> = new Set<Kind>(['date', 'timestamp'])
const NUMBERS: ReadonlySet<Kind> = new Set<Kind>(['integer', 'number'])

/** What is known of a column from elsewhere. */
export interface ColumnContext {
  readonly cells: CellKind
  /** What somebody said of dates, or null. */
  readonly dateOrder: DateOrder | null
  /** A number with a decimal comma, where the file has a column of such; else null. */
  readonly decimalComma: Occurrence | null
}

/** The only type that takes all values of a column. */
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
    // What a spreadsheet shows as a date may be midnight among other moments.
    if (cells === 'cells' && found.size === 2 && others.size === 2 && others.isSubsetOf(MOMENTS))
      return 'timestamp'
    return typeOfKinds(found) ?? 'string'
  }
  return { type: type(), reading }
}

/** Whether each point of a column's numbers may be between thousands. */
export function hasPointGroupsOnly({ kinds, pointGroup }: ColumnSketch): boolean {
  return pointGroup !== null && pointGroup.count === kinds.get('number')?.count
}
