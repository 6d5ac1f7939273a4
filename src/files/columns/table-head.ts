import type { JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { nameColumns, numberColumns } from './column-names.ts'
import { kindOf, type Kind } from './value-kind.ts'
import type { CellKind, PlaceUnit } from '../io/raw-records.ts'

/** A cell of a table; undefined for one without a value. */
export type TableCell = Exclude<JsonValue, null> | undefined

/** A row from the start of a file. */
export interface SampleRow {
  readonly cells: readonly TableCell[]
  /** Its place in the file's unit. */
  readonly at: number
}

/** The beginning of a table. */
export interface TableHead {
  /** The names by column; undefined for one without a name and values. */
  readonly names: readonly (string | undefined)[]
  /** The number of rows before the first record. */
  readonly rows: number
  /** The guesses; each a sentence without a full stop. */
  readonly guesses: readonly string[]
}

export interface HeadOptions {
  /** The number of cells of most rows. */
  readonly width: number
  /** Whether a row names the columns; null to detect it. */
  readonly header: boolean | null
  /** Whether the table begins with the first row. */
  readonly first: boolean
  readonly cells: CellKind
  readonly unit: PlaceUnit
  /** Returns the file and the place, for messages. */
  place(at: number): string
}

/** The most rows that may precede a table. */
const MAX_ABOVE = 20

/** The number of skipped titles that a guess shows. */
const SHOWN = 3

/**
 * Finds the start of a table and the names of its columns from its first rows. Titles and comments above it are
 * skipped; if the first row has values of the same types as those below, there is no header.
 */
export function findHead(rows: readonly SampleRow[], options: HeadOptions): TableHead {
  const above = options.first ? 0 : countAbove(rows, options.width)
  const table = rows.slice(above)
  const [top] = table
  const guesses = above === 0 ? [] : [aboveGuess(rows.slice(0, above), options.unit)]
  if (top === undefined) return { names: [], rows: above, guesses }
  const place = options.place(top.at)
  const looks = options.header === null ? classifyFirstRow(table, options) : null
  if (options.header === false || looks === 'values') {
    const names = numberColumns(Math.max(top.cells.length, options.width), place)
    if (looks !== null) {
      guesses.push(`no ${options.unit} names the columns: they are called column_1 to column_${names.length}`)
    }
    return { names, rows: above, guesses }
  }
  if (looks === 'either') {
    guesses.push(`${options.unit} ${top.at} is read as the names of the columns, though it looks like values`)
  }
  const width = Math.max(...table.map(({ cells }) => cells.length))
  const texts = Array.from({ length: options.cells === 'text' ? top.cells.length : width }, (_, index) =>
    textOf(top.cells[index]),
  )
  const below = table.slice(1)
  const named = nameColumns(texts, (column) => below.some(({ cells }) => !isBlank(cells[column])), place)
  return { names: named.names, rows: above + 1, guesses: [...guesses, ...named.guesses] }
}

/** Returns the number of rows above a table: titles, comments and other rows with far fewer values than columns. */
export function countAbove(rows: readonly SampleRow[], width: number): number {
  if (width < 2) return 0
  const filled = usualFilled(rows)
  const gap = rowsToGap(rows, width)
  const isAbove = ({ cells }: SampleRow, index: number): boolean =>
    isComment(cells, width) ||
    isSparse(cells, { filled, width }) ||
    (index < gap && isHalf(cells, { filled, width }))
  let above = 0
  for (const [index, row] of rows.slice(0, MAX_ABOVE).entries()) {
    if (!isAbove(row, index)) return above
    above += 1
  }
  // Without anything below that looks like a table, the first row is used.
  return 0
}

/** Returns the usual number of values in a row: few rows have more. */
function usualFilled(rows: readonly SampleRow[]): number {
  const counts = rows.map(({ cells }) => filledOf(cells)).toSorted((a, b) => a - b)
  return counts[Math.floor(counts.length * 0.75)] ?? 0
}

function filledOf(cells: readonly TableCell[]): number {
  return cells.reduce<number>((count, cell) => count + (isBlank(cell) ? 0 : 1), 0)
}

/** Whether a row is a comment. A header that begins like a comment has as many cells as the table. */
function isComment(cells: readonly TableCell[], width: number): boolean {
  return textOf(cells[0]).startsWith('#') && cells.length !== width
}

/**
 * Whether a row has one value where others have several, or fewer than half of them; for a shorter row, half or
 * fewer.
 */
function isSparse(
  cells: readonly TableCell[],
  usual: { readonly filled: number; readonly width: number },
): boolean {
  const filled = filledOf(cells)
  if (filled === 1 && usual.filled > 1 && !isBlank(cells[0])) return true
  return filled * 2 < usual.filled + (cells.length < usual.width ? 1 : 0)
}

/** Whether a row is padded with empty cells to the width of the table, and has at most half of its values. */
function isHalf(
  cells: readonly TableCell[],
  usual: { readonly filled: number; readonly width: number },
): boolean {
  return isBlank(cells[usual.width - 1]) && filledOf(cells) * 2 <= usual.filled
}

/** Returns the number of rows before an empty line that a header follows; 0 if there is none. */
function rowsToGap(rows: readonly SampleRow[], width: number): number {
  const names = rows.slice(0, MAX_ABOVE + 1).findIndex(({ cells }) => isFullOfTexts(cells, width))
  const before = rows[names - 1]
  if (before === undefined) return 0
  const isGap = filledOf(before.cells) === 0 || (rows[names]?.at ?? 0) > before.at + 1
  return isGap ? names : 0
}

function isFullOfTexts(cells: readonly TableCell[], width: number): boolean {
  if (cells.length !== width) return false
  return cells.every((cell) => !isBlank(cell) && familyOf(cell, 'text') === 'text')
}

function aboveGuess(rows: readonly SampleRow[], unit: PlaceUnit): string {
  const texts = rows
    .slice(0, SHOWN)
    .map(({ cells }) => showValue(textOf(cells.find((cell) => !isBlank(cell)))))
  const more = rows.length > SHOWN ? ', …' : ''
  const what = rows.length === 1 ? `1 ${unit}` : `${rows.length} ${unit}s`
  return `passed over ${what} above the table: ${texts.join(', ')}${more}`
}

/** Decides whether the first row of a table has names, values, or cells that may be either, such as years. */
function classifyFirstRow(
  table: readonly SampleRow[],
  { cells, width }: HeadOptions,
): 'names' | 'values' | 'either' {
  const [top, ...below] = table
  // The header omits the name of the index column.
  if (isBlank(top?.cells[0]) && below.some((row) => !isBlank(row.cells[0]))) return 'names'
  const alike: number[] = []
  for (let column = 0; column < width; column += 1) {
    const value = top?.cells[column]
    const kinds = new Set(below.flatMap((row) => familyOf(row.cells[column], cells) ?? []))
    if (kinds.size !== 1 || kinds.has('text') || isBlank(value)) continue
    const [kind] = kinds
    const own = familyOf(value, cells)
    if (own === 'text') return 'names'
    if (own === kind) alike.push(column)
  }
  if (alike.length === 0) return 'names'
  return areYears(alike.map((column) => Number(textOf(top?.cells[column])))) ? 'either' : 'values'
}

/** Whether numbers may be column names: years, or ascending numbers. */
function areYears(numbers: readonly number[]): boolean {
  if (!numbers.every((number) => Number.isInteger(number))) return false
  if (numbers.every((number) => number >= 1800 && number <= 2200)) return true
  return (
    numbers.length > 1 && numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))
  )
}

function familyOf(cell: TableCell, cells: CellKind): Kind | null {
  if (cell === undefined) return null
  const kind = kindOf(cell, cells)
  return kind === 'number' ? 'integer' : kind
}

/** Whether a cell is empty or has only white space. */
export function isBlank(cell: TableCell): boolean {
  return cell === undefined || (typeof cell === 'string' && cell.trim() === '')
}

function textOf(cell: TableCell): string {
  return cell === undefined ? '' : typeof cell === 'string' ? cell : JSON.stringify(cell)
}
