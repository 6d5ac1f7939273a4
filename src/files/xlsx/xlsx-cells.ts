import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { serialOfDate } from './xlsx-dates.ts'
import { encodeText, MAX_CELL_LENGTH } from './xlsx-text.ts'

/** Styles of cells by their place in `styles.xml`. */
const DATE_STYLE = 1
export const HEADER_STYLE = 2

/** A place in a worksheet: the row from 1, the column from 0. */
export interface CellPlace {
  readonly row: number
  readonly column: number
}

/** Spreadsheets calculate with 15 digits; integers with more are kept as texts. */
const MAX_EXACT = 999_999_999_999_999

/** The XML of a cell with a value; `tooLong` is the length of a text that no cell can hold. */
export function cellXml(
  { type }: Field,
  value: Exclude<JsonValue, null>,
  { row, column }: CellPlace,
): { readonly xml: string; readonly tooLong: number | null } {
  const place = `${columnName(column)}${row}`
  if (typeof value === 'boolean') return done(`<c r="${place}" t="b"><v>${value ? 1 : 0}</v></c>`)
  if (typeof value === 'number' && !(Number.isInteger(value) && Math.abs(value) > MAX_EXACT)) {
    return done(`<c r="${place}"><v>${value}</v></c>`)
  }
  const serial = type === 'date' && typeof value === 'string' ? serialOfDate(value) : null
  if (serial !== null) return done(`<c r="${place}" s="${DATE_STYLE}"><v>${serial}</v></c>`)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length > MAX_CELL_LENGTH) return { xml: '', tooLong: text.length }
  return done(textCell(place, text))
}

function done(xml: string): { readonly xml: string; readonly tooLong: null } {
  return { xml, tooLong: null }
}

/** The XML of a cell with a text. In the cell itself, since a table of texts would have to be kept until the end. */
export function textCell(place: string, text: string, style = ''): string {
  return `<c r="${place}"${style} t="inlineStr"><is><t xml:space="preserve">${encodeText(text)}</t></is></c>`
}

/** The letters of a column, from 0: A, B, … Z, AA. */
export function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter
}

/** The column of a reference such as `AB12`, from 0; null for none. */
export function columnOf(reference: string): number | null {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0]
  if (letters === undefined) return null
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}
