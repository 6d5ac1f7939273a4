import type { SheetField } from '../api/contract.ts'
import { parseTsv, type TsvCell } from '../values/tsv.ts'
import { parseText } from '../values/value-text.ts'

/** The reason that a text cannot be pasted: unreadable cells, or too many columns. */
export class PasteError extends Error {}

/** The number of unreadable cells that a message names. */
const NAMED_ERRORS = 3

/**
 * Parses a pasted text into rows of values. Throws PasteError if any cell cannot be read, so that nothing is pasted.
 */
export function parsePaste(text: string, fields: readonly SheetField[]): readonly (readonly unknown[])[] {
  return readRows(parseTsv(text), fields)
}

/** The target of a paste, from the first selected cell. */
export interface PastePlace {
  /** From the first selected column to the last column. */
  readonly fields: readonly SheetField[]
  /** The number of records from the first selected one. */
  readonly records: number
  /** The size of the selection. */
  readonly selected: { readonly rows: number; readonly columns: number }
}

export interface PastePlan {
  /** The field of each column. */
  readonly fields: readonly SheetField[]
  /** Whether the first line has the column names and is not pasted. */
  readonly headed: boolean
  /** The values by record, from the first selected one, and by field. */
  readonly rows: readonly (readonly unknown[])[]
  /** The number of lines beyond the last record. */
  readonly linesLeft: number
}

/**
 * Plans a paste. A text that divides the selection evenly is repeated to fill it. A first line of column names maps
 * columns to fields. Throws PasteError.
 */
export function planPaste(text: string, { fields: all, records, selected }: PastePlace): PastePlan {
  const pasted = parseTsv(text)
  const named = fieldsOfHeadings(pasted, all)
  const headed = named !== null
  const lines = headed ? pasted.slice(1) : pasted
  const fields = named ?? all
  const width = widthOf(lines)
  if (lines.length === 0 || width === 0) return { fields: [], headed, rows: [], linesLeft: 0 }
  const fits = selected.rows % lines.length === 0 && selected.columns % width === 0
  const cells = fits ? tiled(lines, selected.rows, selected.columns, width) : lines
  const fitting = cells.slice(0, records)
  const rows = readRows(fitting, fields)
  return { fields: fields.slice(0, widthOf(fitting)), headed, rows, linesLeft: cells.length - fitting.length }
}

/**
 * Returns the fields that a first line names, by title or name; null if a cell names no field or one named before, or
 * if there is only one cell, which may be a value.
 */
function fieldsOfHeadings(
  [first = [], ...rest]: readonly (readonly TsvCell[])[],
  fields: readonly SheetField[],
): readonly SheetField[] | null {
  if (first.length < 2 || rest.length === 0) return null
  const named = first.flatMap(({ text }) => {
    const heading = text.trim()
    return fields.find(({ title }) => title === heading) ?? fields.find(({ name }) => name === heading) ?? []
  })
  return named.length === first.length && new Set(named).size === named.length ? named : null
}

function tiled(lines: readonly TsvCell[][], rows: number, columns: number, width: number): TsvCell[][] {
  const none: TsvCell = { text: '', quoted: false }
  return Array.from({ length: rows }, (_row, y) =>
    Array.from({ length: columns }, (_column, x) => lines[y % lines.length]?.[x % width] ?? none),
  )
}

function widthOf(lines: readonly (readonly TsvCell[])[]): number {
  return lines.reduce((width, line) => Math.max(width, line.length), 0)
}

function readRows(lines: readonly (readonly TsvCell[])[], fields: readonly SheetField[]): unknown[][] {
  const width = widthOf(lines)
  if (width > fields.length) {
    const available = fields.length === 1 ? '1 is' : `${fields.length} are`
    throw new PasteError(
      `Nothing pasted: ${width} columns were copied, but only ${available} available from the selected column on`,
    )
  }
  const errors: string[] = []
  const rows = lines.map((line, y) =>
    line.map((cell, x) => {
      const field = fields[x]
      const parsed = field === undefined ? { value: null } : readCell(field, cell)
      if ('value' in parsed) return parsed.value
      errors.push(`line ${y + 1}, ${field?.title ?? ''}: ${parsed.error}`)
      return null
    }),
  )
  if (errors.length > 0) {
    throw new PasteError(
      `Nothing pasted: ${errors.length} of ${lines.flat().length} cells could not be read: ${listed(errors)}`,
    )
  }
  return rows
}

function readCell(field: SheetField, { text, quoted }: TsvCell): ReturnType<typeof parseText> {
  // A quoted empty cell is an empty text; an unquoted one is no value.
  return text === '' && quoted && field.type === 'string' ? { value: '' } : parseText(field, text)
}

function listed(errors: readonly string[]): string {
  const more = errors.length - NAMED_ERRORS
  return errors.slice(0, NAMED_ERRORS).join('; ') + (more > 0 ? `; and ${more} more` : '')
}
