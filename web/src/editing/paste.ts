import type { SheetField } from '../api/contract.ts'
import { parseTsv, type TsvCell } from '../values/tsv.ts'
import { parseText } from '../values/value-text.ts'

/** Why a text cannot be pasted: which of its cells cannot be read, or that it has too many columns. */
export class PasteError extends Error {}

/** How many cells that cannot be read a message names. */
const NAMED_FAULTS = 3

/**
 * The values that a pasted text means for these fields, line by line. Throws PasteError, so that nothing is pasted
 * when a part of it cannot be read.
 */
export function parsePaste(text: string, fields: readonly SheetField[]): readonly (readonly unknown[])[] {
  return readRows(parseTsv(text), fields)
}

/** Where a text is pasted: from the first selected cell on. */
export interface PastePlace {
  /** From the first selected column to the last column of all. */
  readonly fields: readonly SheetField[]
  /** How many records there are from the first selected one on. */
  readonly records: number
  /** How large the selection is. */
  readonly selected: { readonly rows: number; readonly columns: number }
}

export interface PastePlan {
  /** The field of each column. */
  readonly fields: readonly SheetField[]
  /** Whether the first line had the headings of the columns, and is not pasted. */
  readonly headed: boolean
  /** By record from the first selected one on, by field. */
  readonly rows: readonly (readonly unknown[])[]
  /** Lines for which there is no record. */
  readonly linesLeft: number
}

/**
 * What pasting a text writes. What fits the selection several times fills it, a single value above all. A first line of
 * headings says which column is which field. Throws PasteError.
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
 * The fields that a first line names, by heading or name; null when it is a line of values: some cell of it names no field,
 * or one that another names, or there is only one cell, which a value may look like.
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
  const faults: string[] = []
  const rows = lines.map((line, y) =>
    line.map((cell, x) => {
      const field = fields[x]
      const parsed = field === undefined ? { value: null } : readCell(field, cell)
      if ('value' in parsed) return parsed.value
      faults.push(`line ${y + 1}, ${field?.title ?? ''}: ${parsed.fault}`)
      return null
    }),
  )
  if (faults.length > 0) {
    throw new PasteError(
      `Nothing pasted: ${faults.length} of ${lines.flat().length} cells could not be read: ${listed(faults)}`,
    )
  }
  return rows
}

function readCell(field: SheetField, { text, quoted }: TsvCell): ReturnType<typeof parseText> {
  // In quotes, nothing is an empty text rather than no value.
  return text === '' && quoted && field.type === 'string' ? { value: '' } : parseText(field, text)
}

function listed(faults: readonly string[]): string {
  const more = faults.length - NAMED_FAULTS
  return faults.slice(0, NAMED_FAULTS).join('; ') + (more > 0 ? `; and ${more} more` : '')
}
