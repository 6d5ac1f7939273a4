import { parseMoment } from '../../contract/values/date-time.ts'
import { firstWrittenNumber, parseExactly, readNumber } from '../../contract/json/exact-json.ts'
import { numberFrom } from '../../contract/json/exact-number.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { WrittenNumber } from '../../contract/json/written-number.ts'
import type { CellKind } from '../io/raw-records.ts'

/** The kind of a single value; `text` is anything else. */
export type Kind =
  'integer' | 'number' | 'boolean' | 'date' | 'timestamp' | 'time' | 'array' | 'object' | 'text'

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/
const NUMBER = /^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/

/** Spreadsheets have timestamps without an offset; they count as UTC (type-cells.ts). */
const LOCAL_TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+$/

/**
 * Returns the kind of a value of a file, null for a blank cell. In files of texts, a text with one interpretation has
 * that kind; in files with types, texts are texts, except for dates, timestamps and times. A text that would change
 * by parsing is not a number: leading zeros, a plus sign, too many digits.
 */
export function kindOf(value: Exclude<JsonValue, null>, cells: CellKind): Kind | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object'
  return cells === 'values' ? (kindOfMoment(value) ?? 'text') : kindOfCell(value.trim(), cells)
}

/** Returns the number that prevents a text from being a number, or JSON with numbers, because it would lose digits. */
export function lossyNumberIn(cell: string): WrittenNumber | null {
  const text = cell.trim()
  const first = text.charCodeAt(0)
  if (first === 0x5b || first === 0x7b) return lossyInJson(text)
  if (first !== 0x2d && !(first >= 0x30 && first <= 0x39)) return null
  const number = readNumber(text)
  return number instanceof WrittenNumber ? number : null
}

function lossyInJson(text: string): WrittenNumber | null {
  try {
    return firstWrittenNumber(parseExactly(text, { writtenIntegers: true }))
  } catch {
    return null
  }
}

function kindOfCell(text: string, cells: CellKind): Kind | null {
  if (text === '') return null
  const first = text.charCodeAt(0)
  if (first === 0x5b || first === 0x7b) return kindOfJson(text) ?? 'text'
  if (cells === 'cells' && LOCAL_TIMESTAMP.test(text)) return kindOfMoment(`${text}Z`) ?? 'text'
  const digits = first === 0x2d || first === 0x2e || (first >= 0x30 && first <= 0x39)
  if (cells === 'text' && digits) return kindOfDigits(text) ?? kindOfMoment(text) ?? 'text'
  if (cells === 'text' && /^(?:true|false)$/i.test(text)) return 'boolean'
  return kindOfMoment(text) ?? 'text'
}

function kindOfDigits(text: string): Kind | null {
  if (INTEGER.test(text) && text !== '-0') return Number.isSafeInteger(Number(text)) ? 'integer' : null
  return NUMBER.test(text) && numberFrom(text) !== null ? 'number' : null
}

/** Recognizes arrays and objects that a program wrote into a cell. */
function kindOfJson(text: string): Kind | null {
  try {
    const value = parseExactly(text, { writtenIntegers: true })
    if (firstWrittenNumber(value) !== null) return null
    return Array.isArray(value) ? 'array' : 'object'
  } catch {
    return null
  }
}

function kindOfMoment(text: string): Kind | null {
  const { length } = text
  if (length < 5 || text.charCodeAt(0) < 0x30 || text.charCodeAt(0) > 0x39) return null
  if (text[2] === ':') return parseMoment('time', text) === null ? null : 'time'
  if (text[4] !== '-') return null
  if (length === 10) return parseMoment('date', text) === null ? null : 'date'
  return parseMoment('timestamp', text) === null ? null : 'timestamp'
}
