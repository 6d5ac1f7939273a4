import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { parsePage, type RecordPages } from '../io/record-pages.ts'
import { guardFormula } from './formula-guard.ts'

export interface CsvWriteOptions {
  /** Writes texts that start like a formula unchanged. */
  readonly raw: boolean
  /** One character: a comma, or another for which cells are quoted. */
  readonly delimiter: string
}

/** Matches cells that need quotes, besides empty texts. Other programs trim unquoted white space. */
const NEEDS_QUOTES = /[",;\t\r\n|]|^\s|\s$/

/**
 * Returns the records as CSV (RFC 4180) in UTF-8, with a header of field names. No value is an empty cell, an empty
 * text a pair of quotes; arrays and objects are JSON.
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
