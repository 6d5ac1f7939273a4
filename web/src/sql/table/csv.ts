import type { ResultRow } from './result-columns.ts'

/** What spreadsheets take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/**
 * Rows as RFC 4180 has them, with a head. Null is nothing, an empty text is `""`, arrays and objects are their JSON. A
 * text that a spreadsheet would run as a formula gets an apostrophe before it; numbers are left as they are.
 */
export function toCsv(columns: readonly string[], rows: readonly ResultRow[]): string {
  const lines = [columns.map(csvCell), ...rows.map((row) => columns.map((name) => csvCell(row[name])))]
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = harmless(textOf(value))
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A value as text, as both CSV and the clipboard have it. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A text that no spreadsheet runs. */
export function harmless(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
}
