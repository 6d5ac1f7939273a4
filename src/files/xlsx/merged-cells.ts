import { ValidationError } from '../../errors/service-error.ts'
import type { WorkbookArchive } from './workbook-archive.ts'
import type { CellValue, WorksheetRow } from './worksheet-rows.ts'
import { columnOf } from './xlsx-cells.ts'

/** Cells of one column that are merged over several rows; row numbers count from 1, the column from 0. */
interface Range {
  readonly reference: string
  readonly column: number
  readonly top: number
  readonly bottom: number
}

const MAX_RANGES = 200_000

/**
 * The cells of a worksheet that are merged over rows: the file has the value only in the first, and each of the rows
 * shows it. Cells merged over columns are not filled, since their value belongs to the first column.
 */
export class MergedCells {
  static readonly NONE = new MergedCells([])

  readonly #ranges: readonly Range[]

  private constructor(ranges: readonly Range[]) {
    this.#ranges = ranges.toSorted((a, b) => a.top - b.top)
  }

  /**
   * Reads the merged cells of a worksheet, which follow its rows; most worksheets have none, and are only searched.
   * Throws ValidationError for an excessive number.
   */
  static async read(archive: WorkbookArchive, worksheet: string, name: string): Promise<MergedCells> {
    const ranges: Range[] = []
    if (!(await archive.contains(worksheet, 'mergeCell'))) return new MergedCells(ranges)
    const pieces = archive.readWorksheet(
      worksheet,
      {
        open: (element, { ref = '' }) => {
          const range = element === 'mergeCell' ? rangeOf(ref) : null
          if (range !== null) ranges.push(range)
          if (ranges.length > MAX_RANGES) {
            throw new ValidationError(
              `${name}: the worksheet has more than ${MAX_RANGES} merged cells`,
              'unreadable_file',
            )
          }
        },
        close: () => undefined,
        text: () => undefined,
      },
      () => undefined,
    )
    for await (const _piece of pieces) continue
    return new MergedCells(ranges)
  }

  /** Returns the first range at or below a row, such as `A2:A5`; null for none. */
  firstFrom(row: number): string | null {
    return this.#ranges.find(({ top }) => top >= row)?.reference ?? null
  }

  /** Returns a function that fills the rows of a worksheet, in ascending order. */
  filler(): (row: WorksheetRow) => WorksheetRow {
    const open = new Map<number, { readonly bottom: number; readonly value: CellValue }>()
    let next = 0
    return (row) => {
      for (; next < this.#ranges.length; next += 1) {
        const range = this.#ranges[next]
        if (range === undefined || range.top > row.number) break
        const value = range.top === row.number ? row.cells[range.column] : undefined
        if (value === undefined) open.delete(range.column)
        else open.set(range.column, { bottom: range.bottom, value })
      }
      if (open.size === 0) return row
      const cells = [...row.cells]
      for (const [column, { bottom, value }] of open) {
        if (bottom < row.number) open.delete(column)
        else cells[column] ??= value
      }
      return { ...row, cells }
    }
  }
}

/** Returns the part of a reference such as `B2:C5` that is filled: its first column, if it has several rows. */
function rangeOf(reference: string): Range | null {
  const match = /^\$?([A-Z]{1,3})\$?(\d{1,7}):\$?[A-Z]{1,3}\$?(\d{1,7})$/.exec(reference)
  const column = columnOf(match?.[1] ?? '')
  const [top, bottom] = [Number(match?.[2]), Number(match?.[3])]
  if (column === null || !(bottom > top)) return null
  return { reference, column, top, bottom }
}
