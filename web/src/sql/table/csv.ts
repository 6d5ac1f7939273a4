import type { ResultRow } from './result-columns.ts'

/** The characters at which spreadsheets recognize a formula. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/**
 * Formats rows as CSV (RFC 4180) with a header. Null is empty, an empty text is `""`, arrays and objects are JSON. A
 * text that a spreadsheet would run as a formula gets a leading apostrophe; numbers do not.
 */
export function toCsv(columns: readonly string[], rows: readonly ResultRow[]): string {
  const lines = [columns.map(csvCell), ...rows.map((row) => columns.map((name) => csvCell(row[name])))]
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = escapeFormula(textOf(value))
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns a value as text, for CSV and the clipboard. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Escapes a text that a spreadsheet would run as a formula. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
}
