import type { SheetField } from '../api/contract.ts'
import { parseTsv, type TsvCell } from '../values/tsv.ts'
import { notationOf } from '../values/column-notation.ts'
import type { Parsed } from '../values/parse-number.ts'
import { parseText, SHOWN_NOTATION, type Notation } from '../values/value-text.ts'

/** The reason that a text cannot be pasted: unreadable cells, or too many columns. */
export class PasteError extends Error {}

/** The number of unreadable cells that a message names. */
const NAMED_ERRORS = 3

/** The target of a paste, from the first selected cell. */
export interface PastePlace {
  /** From the first selected column to the last column. */
  readonly fields: readonly SheetField[]
  /** The number of records from the first selected one. */
  readonly records: number
  /** The size of the selection. */
  readonly selected: { readonly rows: number; readonly columns: number }
  /** Whether the actor may write a field. */
  readonly mayWrite: (field: SheetField) => boolean
  /** The notations that the person chose, by field; other columns are read by their texts. */
  readonly notations?: ReadonlyMap<string, Notation>
}

/** A cell to write. */
export interface PastedCell {
  readonly field: SheetField
  readonly value: unknown
}

export interface PastePlan {
  /** The field of each column. */
  readonly fields: readonly SheetField[]
  /** Whether the first line has the column names and is not pasted. */
  readonly headed: boolean
  /** The cells by record, from the first selected one. */
  readonly rows: readonly (readonly PastedCell[])[]
  /** The cells of the lines below the last record, which become new records. */
  readonly created: readonly (readonly PastedCell[])[]
  /** The fields of the text that are not written. */
  readonly skipped: readonly SheetField[]
  /** The columns whose texts could mean two values, with how they are read. */
  readonly ambiguous: readonly AmbiguousColumn[]
}

export interface AmbiguousColumn {
  readonly field: SheetField
  readonly texts: readonly string[]
  readonly notation: Notation
}

/**
 * Plans a paste. A text that divides the selection evenly is repeated to fill it. A first line of column names maps
 * columns to fields. Lines below the last record become new records. Columns that the actor may not write are skipped.
 * Throws PasteError if any other cell cannot be read, so that nothing is pasted.
 */
export function planPaste(text: string, place: PastePlace): PastePlan {
  const { fields: all, records, selected, mayWrite } = place
  const pasted = parseTsv(text)
  const named = fieldsOfHeadings(pasted, all)
  const headed = named !== null
  const lines = headed ? pasted.slice(1) : pasted
  const width = widthOf(lines)
  const fields = (named ?? all).slice(0, width)
  if (lines.length === 0 || width === 0)
    return { fields: [], headed, rows: [], created: [], skipped: [], ambiguous: [] }
  checkWidth(width, (named ?? all).length)
  const fits = selected.rows % lines.length === 0 && selected.columns % width === 0
  const cells = fits ? tiled(lines, selected.rows, selected.columns, width) : lines
  const targets = fits ? (named ?? all).slice(0, selected.columns) : fields
  const notations = targets.map((field, x) =>
    notationOf(
      field,
      lines.map((line) => line[x % width]?.text ?? ''),
    ),
  )
  const reader = new CellReader(targets, (x) => {
    const field = targets[x]
    return (field && place.notations?.get(field.name)) ?? notations[x]?.notation ?? SHOWN_NOTATION
  })
  const rows = cells.slice(0, records).map((line, y) => reader.read(line, y, mayWrite))
  const created = cells
    .slice(records)
    .map((line, y) => reader.read(line, records + y, (field) => field.primaryKey || mayWrite(field)))
    .filter((line) => line.some(({ value }) => value !== null))
  reader.throwErrors(cells.flat().length)
  return {
    fields: targets,
    headed,
    rows,
    created,
    skipped: targets.filter((field) => !mayWrite(field) && (!field.primaryKey || rows.length > 0)),
    ambiguous: targets.flatMap((field, x) => {
      const texts = notations[x]?.ambiguous ?? []
      return texts.length === 0 || !mayWrite(field) ? [] : { field, texts, notation: reader.notation(x) }
    }),
  }
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

function checkWidth(width: number, available: number): void {
  if (width <= available) return
  throw new PasteError(
    `Nothing pasted: ${width} columns were copied, but only ${available === 1 ? '1 is' : `${available} are`} available from the selected column on`,
  )
}

/** Reads lines into cells, and collects the errors. */
class CellReader {
  readonly #fields: readonly SheetField[]
  readonly #errors: string[] = []
  readonly notation: (column: number) => Notation

  constructor(fields: readonly SheetField[], notation: (column: number) => Notation) {
    this.#fields = fields
    this.notation = notation
  }

  read(line: readonly TsvCell[], y: number, takes: (field: SheetField) => boolean): readonly PastedCell[] {
    return line.flatMap((cell, x) => {
      const field = this.#fields[x]
      if (field === undefined || !takes(field)) return []
      const parsed = readCell(field, cell, this.notation(x))
      if ('value' in parsed) return { field, value: parsed.value }
      this.#errors.push(`line ${y + 1}, ${field.title}: ${parsed.error}`)
      return []
    })
  }

  throwErrors(count: number): void {
    if (this.#errors.length === 0) return
    throw new PasteError(
      `Nothing pasted: ${this.#errors.length} of ${count} cells could not be read: ${listed(this.#errors)}`,
    )
  }
}

function readCell(field: SheetField, { text, quoted }: TsvCell, notation: Notation): Parsed {
  // A quoted empty cell is an empty text; an unquoted one is no value.
  return text === '' && quoted && field.type === 'string' ? { value: '' } : parseText(field, text, notation)
}

function listed(errors: readonly string[]): string {
  const more = errors.length - NAMED_ERRORS
  return errors.slice(0, NAMED_ERRORS).join('; ') + (more > 0 ? `; and ${more} more` : '')
}
