/** A cell of tab-separated text. */
export interface TsvCell {
  readonly text: string
  /** Whether the cell was quoted: `""` is an empty text, nothing is no value. */
  readonly quoted: boolean
}

/**
 * Formats tab-separated text like spreadsheets: cells with a tab, line break or quote are quoted. Null is empty; an
 * empty text is `""`, which spreadsheets read as an empty cell and {@link parseTsv} as an empty text.
 */
export function writeTsv(rows: readonly (readonly (string | null)[])[]): string {
  const text = rows.map((row) => row.map(writeCell).join('\t')).join('\n')
  // An empty clipboard has no cells; a line end marks one empty cell.
  return text === '' && rows.length > 0 ? '\n' : text
}

function writeCell(text: string | null): string {
  if (text === null) return ''
  return text === '' || /[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Parses tab-separated text of spreadsheets. A quote counts only at the start of a cell and if its partner ends the
 * cell. A trailing line break starts no line.
 */
export function parseTsv(text: string): TsvCell[][] {
  const rows: TsvCell[][] = []
  let row: TsvCell[] = []
  let at = 0
  while (at < text.length) {
    const { cell, end } = readCell(text, at)
    row.push(cell)
    at = end
    if (text[at] === '\t') {
      at += 1
      // A trailing tab is followed by an empty cell.
      if (at === text.length) row.push({ text: '', quoted: false })
      else continue
    } else {
      at += text.startsWith('\r\n', at) ? 2 : 1
    }
    rows.push(row)
    row = []
  }
  return rows
}

const PLAIN = /[^\t\n\r]*/y

function readCell(text: string, start: number): { readonly cell: TsvCell; readonly end: number } {
  const close = text[start] === '"' ? closingQuote(text, start) : -1
  if (close >= 0) {
    const inside = text.slice(start + 1, close)
    return { cell: { text: inside.replaceAll('""', '"'), quoted: true }, end: close + 1 }
  }
  PLAIN.lastIndex = start
  const plain = PLAIN.exec(text)?.[0] ?? ''
  return { cell: { text: plain, quoted: false }, end: start + plain.length }
}

/** Returns the position of the quote that ends a quoted cell; -1 for none. */
function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  const next = at < 0 ? '' : (text[at + 1] ?? '\n')
  return next !== '' && '\t\n\r'.includes(next) ? at : -1
}
