import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { serialOfDate } from './xlsx-dates.ts'
import { encodeText, MAX_CELL_LENGTH } from './xlsx-text.ts'

/** The positions of cell styles in `styles.xml`. */
const DATE_STYLE = 1
export const HEADER_STYLE = 2

/** A place in a worksheet: row from 1, column from 0. */
export interface CellPlace {
  readonly row: number
  readonly column: number
}

/** The largest integer that spreadsheets calculate exactly, with 15 digits; larger ones are texts. */
const MAX_EXACT = 999_999_999_999_999

/** Returns the XML of a cell; `tooLong` is the length of a text that exceeds a cell, else null. */
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

/**
 * Returns the XML of a text cell. The text is in the cell, since shared strings would have to be stored until the
 * end.
 */
export function textCell(place: string, text: string, style = ''): string {
  return `<c r="${place}"${style} t="inlineStr"><is><t xml:space="preserve">${encodeText(text)}</t></is></c>`
}

/** Returns the letters of a column, from 0: A, B, … Z, AA. */
export function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter
}

/** Returns the column of a reference such as `AB12`, from 0; null if invalid. */
export function columnOf(reference: string): number | null {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0]
  if (letters === undefined) return null
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}
