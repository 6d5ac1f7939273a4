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
  /** Where it is, in the file's unit. */
  readonly at: number
}

/** How a table begins. */
export interface TableHead {
  /** By column; undefined for one without a name and values. */
  readonly names: readonly (string | undefined)[]
  /** How many of the rows come before the first record. */
  readonly rows: number
  /** What was guessed; each a sentence without a full stop. */
  readonly guesses: readonly string[]
}

export interface HeadOptions {
  /** The cells of a row that belongs to the table, as most of them have it. */
  readonly width: number
  /** Whether a row names the columns; null to find out. */
  readonly header: boolean | null
  /** True when the table begins with the first row. */
  readonly first: boolean
  readonly cells: CellKind
  readonly unit: PlaceUnit
  /** The file, as messages call it with a place. */
  place(at: number): string
}

/** Rows that may stand above a table. */
const MAX_ABOVE = 20

/** Titles that a guess shows. */
const SHOWN = 3

/**
 * Finds where a table begins and what its columns are called, from its first rows: titles and comments above it are passed
 * over, and where the first row has values of the same types as those below, there are no names.
 */
export function findHead(rows: readonly SampleRow[], options: HeadOptions): TableHead {
  const above = options.first ? 0 : countAbove(rows, options.width)
  const table = rows.slice(above)
  const [top] = table
  const guesses = above === 0 ? [] : [aboveGuess(rows.slice(0, above), options.unit)]
  if (top === undefined) return { names: [], rows: above, guesses }
  const place = options.place(top.at)
  const looks = options.header === null ? lookOfTop(table, options) : null
  if (options.header === false || looks === 'values') {
    const names = numberColumns(Math.max(top.cells.length, options.width), place)
    if (looks !== null) {
      guesses.push(`no ${options.unit} names the columns: they are called column_1 to column_${names.length}`)
    }
    return { names, rows: above, guesses }
  }
  if (looks === 'either') {
    guesses.push(
      `${options.unit} ${top.at} is taken for the names of the columns, though it reads like values`,
    )
  }
  const width = Math.max(...table.map(({ cells }) => cells.length))
  const texts = Array.from({ length: options.cells === 'text' ? top.cells.length : width }, (_, index) =>
    textOf(top.cells[index]),
  )
  const below = table.slice(1)
  const named = nameColumns(texts, (column) => below.some(({ cells }) => !isBlank(cells[column])), place)
  return { names: named.names, rows: above + 1, guesses: [...guesses, ...named.guesses] }
}

/** How many rows stand above a table: titles, comments and what else has far fewer values than the table has columns. */
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
  // With nothing below that looks like a table, the first row has to do.
  return 0
}

/** The number of values that rows of the table have: few have more. */
function usualFilled(rows: readonly SampleRow[]): number {
  const counts = rows.map(({ cells }) => filledOf(cells)).toSorted((a, b) => a - b)
  return counts[Math.floor(counts.length * 0.75)] ?? 0
}

function filledOf(cells: readonly TableCell[]): number {
  return cells.reduce<number>((count, cell) => count + (isBlank(cell) ? 0 : 1), 0)
}

/** Some programs begin the line of the names like a comment; that has as many cells as the table. */
function isComment(cells: readonly TableCell[], width: number): boolean {
  return textOf(cells[0]).startsWith('#') && cells.length !== width
}

/** Whether a row has one value where others have several, or fewer than half of them; half, when it is shorter, too. */
function isSparse(
  cells: readonly TableCell[],
  usual: { readonly filled: number; readonly width: number },
): boolean {
  const filled = filledOf(cells)
  if (filled === 1 && usual.filled > 1 && !isBlank(cells[0])) return true
  return filled * 2 < usual.filled + (cells.length < usual.width ? 1 : 0)
}

/** Whether a row is filled up with empty cells to the width of the table, and has at most half of its values. */
function isHalf(
  cells: readonly TableCell[],
  usual: { readonly filled: number; readonly width: number },
): boolean {
  return isBlank(cells[usual.width - 1]) && filledOf(cells) * 2 <= usual.filled
}

/** How many rows come before an empty line with a row of names behind it; 0 when there is none. */
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

/** Whether the first row of a table has names, values, or what may be either, such as years. */
function lookOfTop(
  table: readonly SampleRow[],
  { cells, width }: HeadOptions,
): 'names' | 'values' | 'either' {
  const [top, ...below] = table
  // The names leave out that of the index.
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

/** Whether numbers may be names of columns: years, or numbers that go up. */
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

/** Whether a cell has nothing, or nothing but white space. */
export function isBlank(cell: TableCell): boolean {
  return cell === undefined || (typeof cell === 'string' && cell.trim() === '')
}

function textOf(cell: TableCell): string {
  return cell === undefined ? '' : typeof cell === 'string' ? cell : JSON.stringify(cell)
}
