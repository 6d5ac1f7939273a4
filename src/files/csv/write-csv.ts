import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { parsePage, type RecordPages } from '../io/record-pages.ts'
import { guardFormula } from './formula-guard.ts'

export interface CsvWriteOptions {
  /** Leaves texts that start as a formula does as they are. */
  readonly raw: boolean
  /** One character: a comma, or another of those that cells are put into quotes for. */
  readonly delimiter: string
}

/** What a cell is put into quotes for, besides being an empty text. Other programs trim what stands without. */
const NEEDS_QUOTES = /[",;\t\r\n|]|^\s|\s$/

/**
 * The records as CSV (RFC 4180) in UTF-8, under a line with the names of the fields. No value is nothing, an empty text is
 * a pair of quotes; arrays and objects are their JSON.
 */
export async function* writeCsv(
  fields: readonly Field[],
  pages: RecordPages,
  { raw, delimiter }: CsvWriteOptions,
): AsyncGenerator<Uint8Array> {
  const names = fields.map(({ name }) => name)
  const guard = raw ? (text: string): string => text : guardFormula
  const lineOf = (record: JsonObject): string =>
    names.map((name) => cellOf(record[name] ?? null, guard)).join(delimiter)
  yield Buffer.from(`${names.join(delimiter)}\r\n`)
  for await (const page of pages) {
    const lines = parsePage(page).map((record) => `${lineOf(record)}\r\n`)
    if (lines.length > 0) yield Buffer.from(lines.join(''))
  }
}

function cellOf(value: JsonValue, guard: (text: string) => string): string {
  if (value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'object') return quote(JSON.stringify(value))
  if (value === '') return '""'
  const text = guard(value)
  return NEEDS_QUOTES.test(text) ? quote(text) : text
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
